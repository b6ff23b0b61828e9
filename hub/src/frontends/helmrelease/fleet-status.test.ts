import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf, refOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { worstDeployments } from "../../rules/summary/roll-up-bundle.ts";
import {
  aBundle,
  aDeployment,
  aggregated,
  decidedBundle,
  digestA,
  now,
} from "../../testing/index.ts";
import { decidedStatus } from "./decided-status.ts";
import { releaseCluster } from "./release-cluster.ts";
import { helmReleaseStatus } from "./status.ts";
import { aHelmRelease, resolvedWeb } from "./testing/index.ts";

function ready(cluster: string): BundleDeployment {
  return aDeployment(cluster, {
    status: {
      ...{ appliedDeploymentID: digestA, ready: true, nonModified: true, release: "apps/web:1" },
      conditions: [{ type: "Released", status: "True", reason: "InstallSucceeded", message: "" }],
    },
  });
}

function failing(cluster: string): BundleDeployment {
  return aDeployment(cluster, {
    status: {
      conditions: [
        { type: "Deployed", status: "False", message: "timeout", observedGeneration: 1 },
        { type: "Released", status: "False", reason: "InstallFailed", message: "timeout" },
      ],
    },
  });
}

const waiting = (cluster: string) => aDeployment(cluster);
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${prefix}-${String(at).padStart(3, "0")}`);

/** The status of a HelmRelease with these deployments, by the publisher's own steps. */
function statusOf(deployments: readonly BundleDeployment[], differing?: string) {
  const release = aHelmRelease();
  const store = createStore<BundleDeployment>();
  for (const each of deployments) store.set(each);
  const { aggregate, summary, offline, conditions } = aggregated(deployments);
  const status = helmReleaseStatus({
    release: { ...release, status: decidedStatus(release, undefined, { chart: resolvedWeb, now }) },
    bundle: decidedBundle(aBundle(), { targets: deployments.length }),
    ...{ summary, offline, conditions, differing, now },
    deployments: worstDeployments(aggregate, store, 20),
    clusterOf: (deployment) =>
      releaseCluster(deployment, refOf(clusterKeyOf(deployment)), { isOffline: false, since: "" }),
  });
  assert.ok(status !== undefined);
  return status;
}

function conditionsOf(status: ReturnType<typeof statusOf>): readonly string[] {
  return (status.conditions ?? [])
    .filter(({ type }) => type !== "Accepted")
    .map((each) => `${each.type}=${each.status} ${each.reason}`);
}

describe("the status of a HelmRelease on a fleet", () => {
  test("names twenty clusters at most, those that failed first, and counts all", () => {
    const status = statusOf([
      ...names("ready", 500).map(ready),
      ...names("waiting", 12).map(waiting),
      ...names("failing", 15).map(failing),
    ]);

    const clusters = status.clusters ?? [];
    assert.deepEqual(
      clusters.map(({ state }) => state),
      [...Array.from({ length: 15 }, () => "ErrApplied"), ...Array(5).fill("WaitApplied")],
    );
    assert.deepEqual(clusters[0]?.name, "failing-000");
    assert.deepEqual(
      [status.summary?.desiredReady, status.summary?.ready, status.summary?.errApplied],
      [527, 500, 15],
    );
    assert.ok(JSON.stringify(status).length < 20_000);
  });

  test("does not depend on the order of reports", () => {
    const all = [...names("ready", 30).map(ready), ...names("failing", 3).map(failing)];
    assert.deepEqual(statusOf(all.toReversed()), statusOf(all));
  });

  test("is Ready when the release is in all clusters", () => {
    const status = statusOf(names("ready", 3).map(ready));
    assert.deepEqual(conditionsOf(status), [
      "Ready=True ReconciliationSucceeded",
      "Released=True InstallSucceeded",
    ]);
    assert.equal(status.observedGeneration, 1);
    assert.equal(status.history, undefined);
  });

  test("is not Ready when one of them failed, and not Stalled", () => {
    const status = statusOf([...names("ready", 3).map(ready), failing("oslo")]);
    const [first, second] = conditionsOf(status);
    assert.equal(first, "Reconciling=True ProgressingWithRetry");
    assert.match(second ?? "", /^Ready=False /);
    assert.equal(status.observedGeneration, undefined);
  });

  test("is Ready with a remark when clusters received different bytes", () => {
    const status = statusOf(
      [ready("paris"), ready("oslo")],
      "clusters got different archives of x",
    );
    const found = status.conditions?.find(({ type }) => type === "Ready");
    assert.ok(found !== undefined);
    assert.equal(found.status, "True");
    assert.match(found.message, /; clusters got different archives of x$/);
  });

  test("is Progressing while clusters have not reported", () => {
    const status = statusOf([ready("paris"), waiting("oslo")]);
    assert.deepEqual(conditionsOf(status).slice(0, 2), [
      "Reconciling=True Progressing",
      "Ready=Unknown Progressing",
    ]);
  });
});

test("a HelmRelease whose last generation was rejected is Progressing, and not Stalled, until the next one is read", () => {
  const rejected = aHelmRelease();
  const problem = { reason: "Invalid", message: "why" };
  const status = {
    ...decidedStatus(rejected, undefined, { problem, isRejected: true, now }),
    observedGeneration: 1,
  };
  const { summary, offline, conditions } = aggregated([]);
  const next = helmReleaseStatus({
    release: aHelmRelease({}, { generation: 2 }, status),
    bundle: undefined,
    ...{ summary, offline, conditions, deployments: [], now },
    clusterOf: (deployment) => ({ name: keyOf(deployment), state: "Ready" }),
  });

  assert.ok(next !== undefined);
  assert.deepEqual(conditionsOf(next), [
    "Reconciling=True Progressing",
    "Ready=Unknown Progressing",
  ]);
  assert.equal(next.observedGeneration, 1);
});
