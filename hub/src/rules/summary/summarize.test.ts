import assert from "node:assert/strict";
import type { BundleDeployment, BundleDeploymentStatus, BundleSummary } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { aDeployment, digestA, digestB, workspace } from "../../testing/index.ts";
import { createDeploymentAggregates, toCounted } from "./bundle-aggregate.ts";
import { readyMessage, summarize, worstState } from "./summarize.ts";

const readyStatus: BundleDeploymentStatus = { appliedDeploymentID: digestA, ready: true };

function notReady(message: string): BundleDeploymentStatus {
  return {
    appliedDeploymentID: digestA,
    ready: false,
    conditions: [{ type: "Ready", status: "False", message }],
  };
}

function failed(message: string): BundleDeploymentStatus {
  return {
    appliedDeploymentID: digestB,
    conditions: [{ type: "Deployed", status: "False", message }],
  };
}

/** The summary of the Bundle `web` in clusters with these statuses. */
function summaryOf(
  statuses: Readonly<Record<string, BundleDeploymentStatus | undefined>>,
  pending = 0,
): BundleSummary {
  const deployments = new Map<string, BundleDeployment>();
  const aggregates = createDeploymentAggregates();
  for (const [cluster, status] of Object.entries(statuses)) {
    const deployment = aDeployment(cluster, { status });
    deployments.set(keyOf(deployment), deployment);
    aggregates.change(undefined, toCounted(deployment));
  }
  return summarize({
    aggregate: aggregates.ofBundle(`${workspace}/web`),
    pending,
    lookUp: (key) => deployments.get(key),
    nameOf: clusterKeyOf,
  });
}

describe("a summary", () => {
  test("is empty without deployments", () => {
    assert.deepEqual(summaryOf({}), { ready: 0, desiredReady: 0 });
  });

  test("has only the states that occur", () => {
    assert.deepEqual(summaryOf({ a: readyStatus, b: readyStatus }), { ready: 2, desiredReady: 2 });
  });

  test("counts targets without a deployment as pending and desired", () => {
    assert.deepEqual(summaryOf({ a: readyStatus }, 3), { pending: 3, ready: 1, desiredReady: 4 });
  });

  test("lists what is not ready with its message, the worst state first", () => {
    assert.deepEqual(
      summaryOf({ rome: notReady("0 of 2 ready"), oslo: undefined, paris: failed("no chart") }),
      {
        errApplied: 1,
        waitApplied: 1,
        notReady: 1,
        ready: 0,
        desiredReady: 3,
        nonReadyResources: [
          { name: `${workspace}/paris`, bundleState: "ErrApplied", message: "no chart" },
          { name: `${workspace}/oslo`, bundleState: "WaitApplied" },
          { name: `${workspace}/rome`, bundleState: "NotReady", message: "0 of 2 ready" },
        ],
      },
    );
  });

  test("lists ten at most, always the same ones, for any order of the changes", () => {
    const names = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
    const clusters = (order: readonly string[]) =>
      Object.fromEntries(
        order.map((name) => [name, name === "z" ? failed("no chart") : undefined]),
      );
    const expected = ["z", ...names.slice(0, 9)].map((name) => `${workspace}/${name}`);

    // 7 and 26 have no common divisor: another order of all of them.
    const shuffled = names.map((_, index) => names[(index * 7) % names.length] ?? "");
    for (const order of [names, names.toReversed(), shuffled]) {
      assert.deepEqual(
        summaryOf(clusters(order)).nonReadyResources?.map(({ name }) => name),
        expected,
      );
    }
  });

  test("truncates a long message between characters", () => {
    const [named] =
      summaryOf({ a: failed(`${"x".repeat(510)}\u{1F6A2}${"y".repeat(50)}`) }).nonReadyResources ??
      [];

    assert.equal(named?.message, `${"x".repeat(510)}…`);
  });

  test("lists four objects of a deployment at most, in short form and without patches", () => {
    const object = (name: string) => ({ apiVersion: "v1", kind: "Pod", name });
    const names = ["a", "b", "c", "d", "e"];
    const [named] =
      summaryOf({
        a: {
          ...notReady("no"),
          nonReadyStatus: names.map((name) => ({
            ...object(name),
            summary: { state: "failed", message: ["m".repeat(500)] },
          })),
          modifiedStatus: names.map((name) => ({ ...object(name), patch: "{}" })),
        },
      }).nonReadyResources ?? [];

    const first = names.slice(0, 4).map(object);
    assert.deepEqual(named?.modifiedStatus, first);
    assert.deepEqual(
      named.nonReadyStatus,
      first.map((each) => ({
        ...each,
        summary: { state: "failed", message: [`${"m".repeat(127)}…`] },
      })),
    );
  });

  test("does not list deleted deployments that it still counts", () => {
    const aggregates = createDeploymentAggregates();
    aggregates.change(undefined, toCounted(aDeployment("paris")));

    const summary = summarize({
      aggregate: aggregates.ofBundle(`${workspace}/web`),
      pending: 0,
      lookUp: () => undefined,
      nameOf: clusterKeyOf,
    });

    assert.deepEqual(summary, { waitApplied: 1, ready: 0, desiredReady: 1 });
  });
});

describe("the worst state", () => {
  const cases: readonly (readonly [summary: Partial<BundleSummary>, state: string])[] = [
    [{}, ""],
    [{ notReady: 1 }, "NotReady"],
    [{ notReady: 1, pending: 1 }, "Pending"],
    [{ pending: 1, outOfSync: 1 }, "OutOfSync"],
    [{ outOfSync: 1, modified: 1 }, "Modified"],
    [{ modified: 1, waitApplied: 1 }, "WaitApplied"],
    [{ waitApplied: 1, errApplied: 1 }, "ErrApplied"],
  ];
  for (const [counts, state] of cases) {
    test(`of ${JSON.stringify(counts)} is "${state}"`, () => {
      assert.equal(worstState({ ready: 5, desiredReady: 5, ...counts }), state);
    });
  }
});

describe("the message of Ready", () => {
  test("is empty when all is ready", () => {
    assert.equal(readyMessage(summaryOf({ a: readyStatus }), "Cluster"), "");
  });

  test("counts each state and has an example with its message", () => {
    const summary = summaryOf(
      { paris: failed("no chart"), oslo: undefined, rome: notReady("0 of 2 ready") },
      2,
    );

    assert.equal(
      readyMessage(summary, "Cluster"),
      `ErrApplied(1) [Cluster ${workspace}/paris: no chart]; WaitApplied(1) [Cluster ${workspace}/oslo]; ` +
        `Pending(2); NotReady(1) [Cluster ${workspace}/rome: 0 of 2 ready]`,
    );
  });

  test("lists further objects, each once and in order", () => {
    const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
    const status: BundleDeploymentStatus = {
      ...notReady("deployment.apps shop/web: 0 of 2 ready"),
      nonReadyStatus: [
        { ...web, summary: { state: "in-progress", message: ["0 of 2 ready"] } },
        { ...web, name: "db", summary: { state: "in-progress", message: ["0 of 1 ready"] } },
      ],
      modifiedStatus: [{ ...web, name: "cache", missing: true }],
    };

    assert.equal(
      readyMessage(summaryOf({ paris: status, rome: status }), "Cluster"),
      `NotReady(2) [Cluster ${workspace}/paris: deployment.apps shop/web: 0 of 2 ready]; ` +
        "deployment.apps shop/cache is missing; deployment.apps shop/db: 0 of 1 ready",
    );
  });
});
