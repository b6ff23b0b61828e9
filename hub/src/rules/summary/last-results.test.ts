import assert from "node:assert/strict";
import type { BundleDeployment, Condition, LastResults } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { aDeployment, digestA, digestB, workspace } from "../../testing/index.ts";
import { createDeploymentAggregates, toCounted } from "./bundle-aggregate.ts";
import { isOtherDrift, isOtherFailure, isOtherTest, lastResults } from "./last-results.ts";

interface Given {
  readonly name: string;
  readonly conditions: readonly Condition[];
  readonly status?: Partial<NonNullable<BundleDeployment["status"]>>;
  readonly isOffline?: true;
}

const is = (type: string, status: Condition["status"], message = ""): Condition => ({
  ...{ type, status, message },
});

function deployment({ name, conditions, status }: Given): BundleDeployment {
  return aDeployment(name, {
    metadata: { uid: `uid-${name}` },
    status: {
      ...{ attemptedDeploymentID: digestA, release: "web/web:2" },
      ...status,
      conditions: [...conditions],
    },
  });
}

function of(known: LastResults | undefined, ...given: readonly Given[]): LastResults | undefined {
  const deployments = given.map(deployment);
  const offline = new Set(given.flatMap(({ name, isOffline }) => (isOffline ? [name] : [])));
  const isOffline = (each: BundleDeployment) =>
    offline.has(clusterKeyOf(each).slice(workspace.length + 1));
  const aggregates = createDeploymentAggregates();
  for (const each of deployments) aggregates.change(undefined, toCounted(each, isOffline(each)));
  return lastResults({
    aggregate: aggregates.ofBundle(`${workspace}/web`),
    known,
    lookUp: (key) => deployments.find((each) => keyOf(each) === key),
    nameOf: clusterKeyOf,
    isOffline,
  });
}

const id = (name: string) => ({ deployment: keyOf(aDeployment(name)), uid: `uid-${name}` });
const failure = (name: string, message: string, content = digestA): LastResults => ({
  failure: { ...id(name), cluster: `${workspace}/${name}`, content, message },
});
const failed = [is("Released", "False", "timed out"), is("Ready", "False", "timed out; retrying")];

describe("what last went wrong", () => {
  test("is nothing where nothing fails, is tested or drifts", () => {
    assert.equal(of(undefined, { name: "oslo", conditions: [is("Released", "True")] }), undefined);
  });

  test("is the failure of the first cluster, by what Helm has failed by", () => {
    const given = ["rome", "oslo"].map((name) => ({ name, conditions: failed }));

    assert.deepEqual(of(undefined, ...given), failure("oslo", "timed out"));
  });

  test("is what has failed before Helm ran", () => {
    const conditions = [is("Deployed", "False", "no Secret a; retrying at noon")];
    const status = { cause: "no Secret a" };

    assert.deepEqual(
      of(undefined, { name: "oslo", conditions, status }),
      failure("oslo", "no Secret a"),
    );
  });

  test("is what has failed before Helm ran where those that Helm has failed in are offline", () => {
    const conditions = [is("Deployed", "False", "no Secret a")];
    const oslo = { name: "oslo", conditions: failed, isOffline: true } as const;

    assert.deepEqual(
      of(undefined, oslo, { name: "rome", conditions }),
      failure("rome", "no Secret a"),
    );
  });

  test("stays that of the cluster that it was, while that one fails", () => {
    const known = failure("rome", "timed out");
    const oslo = { name: "oslo", conditions: failed };

    assert.deepEqual(of(known, oslo, { name: "rome", conditions: failed }), known);
    assert.deepEqual(
      of(known, oslo, { name: "rome", conditions: [is("Released", "True")] }),
      failure("oslo", "timed out"),
    );
    assert.deepEqual(
      of(known, oslo, { name: "rome", conditions: failed, isOffline: true }),
      failure("oslo", "timed out"),
    );
  });

  test("is a test, by the revision, and drift, by its object", () => {
    const conditions = [is("TestSuccess", "True"), is("Drifted", "True")];
    const event = { time: "2026-01-01T00:00:00Z", apiVersion: "v1", kind: "ConfigMap" };
    const driftHistory = [
      { ...event, namespace: "web", name: "a", fields: ["/data/b"], result: "Detected" },
    ];

    assert.deepEqual(of(undefined, { name: "oslo", conditions, status: { driftHistory } }), {
      test: { ...id("oslo"), release: "web/web:2" },
      drift: {
        ...id("oslo"),
        ...{ object: "configmap.v1 web/a", fields: ["/data/b"], result: "Detected" },
      },
    });
  });
});

describe("it is another", () => {
  const { failure: before } = failure("oslo", "timed out");

  test("failure with another content, and not in another cluster", () => {
    assert.equal(isOtherFailure(before, failure("oslo", "else", digestB).failure), true);
    assert.equal(isOtherFailure(before, failure("oslo", "else").failure), false);
    assert.equal(isOtherFailure(before, failure("rome", "else", digestB).failure), false);
    assert.equal(isOtherFailure(undefined, before), false);
  });

  test("test with another revision, and not in another cluster", () => {
    const first = { ...id("oslo"), release: "web/web:1" };
    assert.equal(isOtherTest(first, { ...first, release: "web/web:2" }), true);
    assert.equal(isOtherTest(first, { ...id("rome"), release: "web/web:2" }), false);
  });

  test("drift of another object, field or cluster", () => {
    const first = { ...id("oslo"), object: "configmap.v1 web/a", result: "Detected" };
    assert.equal(isOtherDrift(first, { ...first }), false);
    assert.equal(isOtherDrift(first, { ...first, fields: ["/data/a"] }), true);
    assert.equal(isOtherDrift(first, { ...first, ...id("rome") }), true);
    assert.equal(isOtherDrift(undefined, first), false);
  });
});
