import assert from "node:assert/strict";
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aBundle, aCluster, aDeployment, digestA, digestB } from "../../testing/index.ts";
import { planDeployments } from "./plan-deployments.ts";
import { planRollout } from "./plan-rollout.ts";
import { rolloutLimits } from "./rollout-limits.ts";
import { placed } from "./testing/index.ts";

const names = ["paris", "lyon", "oslo", "rome"] as const;
const agent = { connected: true, epoch: 1 };
const signer = { isSigned: () => true, isSignedFor: () => true, signed: <T>(each: T) => each };

function cluster(name: string, status: Cluster["status"] = { agent }): Cluster {
  const namespace = aCluster(name).status?.namespace;
  return aCluster(name, {
    metadata: { labels: { env: name === "rome" ? "other" : "prod" } },
    status: { ...(namespace !== undefined && { namespace }), ...status },
  });
}

/** Deployed with the content A, and ready. */
const ready = (name: string): BundleDeployment =>
  aDeployment(name, { status: { appliedDeploymentID: digestA, ready: true } });

/** Clusters with what is deployed and what is staged there. */
function contentsIn(deployments: readonly BundleDeployment[]) {
  return deployments
    .map(({ metadata, spec }) => [
      metadata.labels?.["fleet.cattle.io/cluster"] ?? "",
      spec.deploymentID,
      spec.stagedDeploymentID,
    ])
    .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1));
}

/** The content B is next in all clusters. */
async function holdsWith(
  rolloutStrategy: Bundle["spec"]["rolloutStrategy"],
  clusters: readonly Cluster[] = names.map((name) => cluster(name)),
  existing: readonly BundleDeployment[] = names.map(ready),
) {
  const bundle = aBundle({ rolloutStrategy });
  const isOffSchedule = () => false;
  const placements = clusters.map((each) => placed(each, digestB));
  const rollout = { bundle, placements, existing, groups: [], isOffSchedule };
  const { limits, remarks } = await rolloutLimits(rollout);
  const steps = planRollout(bundle, placements, { limits, isOffSchedule });
  return {
    limits,
    remarks,
    plan: planDeployments(bundle, steps, existing, { signer, isOffSchedule: () => false }),
    holds: Object.fromEntries(
      steps.map(({ placement, hold }) => [placement.cluster.metadata.name, hold]),
    ),
  };
}

describe("the limits of a rollout", () => {
  test("are none without a strategy, with an empty one, and with one that lets everything through", async () => {
    for (const strategy of [undefined, null, {}, { maxUnavailable: "100%" }, { maxUnavailable: 4 }])
      assert.equal((await holdsWith(strategy)).limits, undefined);
  });

  test("let through as many clusters as allowed, in the order of their names", async () => {
    const { holds, plan } = await holdsWith({ maxUnavailable: 2 });

    assert.deepEqual(holds, {
      lyon: undefined,
      oslo: undefined,
      paris: "maxUnavailable",
      rome: "maxUnavailable",
    });
    assert.deepEqual(contentsIn(plan.replace), [
      ["lyon", digestB, digestB],
      ["oslo", digestB, digestB],
      ["paris", digestA, digestB],
      ["rome", digestA, digestB],
    ]);
  });

  test("hold clusters that are offline, and name those that are paused", async () => {
    const clusters = [
      cluster("lyon", { agent: { connected: false, epoch: 1 } }),
      { ...cluster("oslo"), spec: { paused: true } },
      cluster("paris"),
      cluster("rome"),
    ];

    const { holds, remarks } = await holdsWith({ maxUnavailable: 1 }, clusters);

    assert.deepEqual(holds, {
      lyon: "offline",
      oslo: "clusterPaused",
      paris: undefined,
      rome: "maxUnavailable",
    });
    assert.deepEqual(remarks, ["the cluster oslo is paused: the rollout goes on past it"]);
  });

  test("give a new cluster no deployment while they hold it", async () => {
    const { plan, holds } = await holdsWith({ maxNew: 1 }, undefined, []);

    assert.deepEqual(
      plan.create.map(({ metadata }) => metadata.labels?.["fleet.cattle.io/cluster"]),
      ["lyon"],
    );
    assert.equal(holds["oslo"], "maxNew");
  });

  test("leave a cluster as it is that no partition takes, its staged content included", async () => {
    const partitions = [{ clusterSelector: { matchLabels: { env: "prod" } } }];
    const { holds, plan, remarks } = await holdsWith({ partitions });

    assert.equal(holds["rome"], "unassigned");
    assert.deepEqual(contentsIn(plan.replace), [
      ["lyon", digestB, digestB],
      ["oslo", digestB, digestB],
      ["paris", digestB, digestB],
      ["rome", digestA, digestA],
    ]);
    assert.deepEqual(remarks, [
      "none of spec.rolloutStrategy.partitions takes the cluster rome: nothing is deployed there",
    ]);
  });

  test("hold nothing where partitions overlap and allow everything, and that they do is said", async () => {
    const { holds, limits, remarks } = await holdsWith({
      partitions: [{ clusterName: "rome" }, { clusterSelector: {} }],
    });

    assert.equal(limits, undefined);
    assert.deepEqual(Object.values(holds), [undefined, undefined, undefined, undefined]);
    assert.deepEqual(remarks, [
      "spec.rolloutStrategy.partitions[0] and spec.rolloutStrategy.partitions[1] take the cluster rome: it is updated with the first and counts in both; narrow one of them if that is not meant",
    ]);
  });

  test("[1.5] count a cluster that is equal and ready as available, also with drift", async () => {
    const drifted = (name: string): BundleDeployment => ({
      ...ready(name),
      status: {
        ...{ appliedDeploymentID: digestA, ready: true, nonModified: false },
        modifiedStatus: [{ apiVersion: "v1", kind: "ConfigMap", name: "web" }],
        conditions: [{ type: "Drifted", status: "True" }],
      },
    });

    const { holds, limits } = await holdsWith({ maxUnavailable: 1 }, undefined, names.map(drifted));

    // None of them is unavailable before, or all would be promoted at once.
    assert.equal(limits?.plan.unavailable, 1);
    assert.deepEqual(
      Object.values(holds).filter((hold) => hold === undefined),
      [undefined],
    );
  });

  test("do not count a deployment of an earlier cluster of the same name", async () => {
    const [first] = names.map(ready);
    assert.ok(first !== undefined);
    const outlived = {
      ...first,
      metadata: { ...first.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
      status: {},
    };
    const existing = [outlived, ...names.slice(1).map(ready)];

    const { limits } = await holdsWith({ maxUnavailable: 1 }, undefined, existing);

    // The new one takes no place before it is installed, which no limit holds.
    assert.equal(limits?.plan.newlyCreated, 1);
  });
});

test("at most ten clusters are named", async () => {
  const many = Array.from({ length: 12 }, (_, index) => cluster(`c${10 + index}`));
  const strategy = { partitions: [{ clusterName: "none" }] };
  const { limits, remarks } = await holdsWith(strategy, many, []);

  assert.deepEqual(remarks, [
    "none of spec.rolloutStrategy.partitions takes 12 clusters (c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, …): nothing is deployed there",
  ]);
  assert.equal(limits?.plan.unassigned.length, 12);
});
