/** What the roll-up of a Bundle counts while clusters come and go. */
import assert from "node:assert/strict";
import type { BundleDeployment, Cluster } from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import {
  aCluster,
  aDeployment,
  createTestCaches,
  digestA,
  workspace,
} from "../../testing/index.ts";
import { createAggregates } from "./aggregates.ts";
import { rollUpBundle } from "./roll-up-bundle.ts";

const web = `${workspace}/web`;

function cluster(name: string, agent?: NonNullable<Cluster["status"]>["agent"]): Cluster {
  return aCluster(name, {
    metadata: { resourceVersion: agent === undefined ? "1" : "2" },
    status: { namespace: clusterNamespaceName(workspace, name), ...(agent && { agent }) },
  });
}

function ready(name: string): BundleDeployment {
  return aDeployment(name, { status: { appliedDeploymentID: digestA, ready: true } });
}

function setUp(names: readonly string[], agent?: NonNullable<Cluster["status"]>["agent"]) {
  const caches = createTestCaches();
  const aggregates = createAggregates(caches);
  const sources = {
    aggregates,
    deployments: caches.deployments.store,
    clusters: caches.clusters.store,
  };
  for (const name of names) {
    caches.clusters.saw(cluster(name, agent));
    caches.deployments.saw(ready(name));
  }
  aggregates.start();
  const counted = (targets: number) => {
    const { summary, offline } = rollUpBundle(sources, web, { targets });
    return { ...summary, isOffline: offline.total };
  };
  return { caches, aggregates, counted };
}

describe("a Bundle counts", () => {
  const agents = [
    ["that has never connected", undefined],
    ["that is connected", { connected: true, epoch: 1 }],
    ["that is offline", { connected: false, epoch: 1 }],
  ] as const;

  for (const [what, agent] of agents)
    test(`no cluster ${what} once it is deleted, though its deployment is still there`, () => {
      const { caches, counted } = setUp(["paris", "rome"], agent);
      const offline = agent?.connected === true ? 0 : 1;

      caches.clusters.missed(`${workspace}/rome`);

      // Its targets are counted by the next reconcile: until then nothing is pending.
      for (const targets of [2, 1])
        assert.deepEqual(counted(targets), { ready: 1, desiredReady: 1, isOffline: offline });
      caches.deployments.missed(keyOf(ready("rome")));
      assert.deepEqual(counted(1), { ready: 1, desiredReady: 1, isOffline: offline });
    });

  test("a deployment that arrives before its cluster once the cluster is there", () => {
    const { caches, counted } = setUp([]);
    caches.deployments.saw(ready("oslo"));
    assert.equal(counted(1).desiredReady, 0);

    caches.clusters.saw(cluster("oslo", { connected: true, epoch: 1 }));

    assert.deepEqual(counted(1), { ready: 1, desiredReady: 1, isOffline: 0 });
  });

  test("a target without a deployment as pending", () => {
    const { counted } = setUp(["paris"], { connected: true, epoch: 1 });

    assert.deepEqual(counted(2), { ready: 1, desiredReady: 2, pending: 1, isOffline: 0 });
  });

  test("a deployment of a deleted cluster that is written again as nothing", () => {
    const { caches, aggregates, counted } = setUp(["paris", "rome"], { connected: true, epoch: 1 });
    caches.clusters.missed(`${workspace}/rome`);

    const written = ready("rome");
    caches.deployments.saw({
      ...written,
      metadata: {
        ...written.metadata,
        resourceVersion: "7",
        deletionTimestamp: "2026-01-01T00:00:00Z",
      },
    });

    assert.deepEqual(counted(1), { ready: 1, desiredReady: 1, isOffline: 0 });
    assert.equal(aggregates.ofCluster(clusterNamespaceName(workspace, "rome")).total, 0);
  });
});

describe("a ClusterGroup changes", () => {
  const failed = (resourceVersion: string, message: string) =>
    aDeployment("paris", {
      metadata: { resourceVersion },
      status: { conditions: [{ type: "Deployed", status: "False", reason: "Error", message }] },
    });
  const notReady = (resourceVersion: string, reason: string) =>
    aDeployment("paris", {
      metadata: { resourceVersion },
      status: {
        appliedDeploymentID: digestA,
        ready: false,
        nonReadyStatus: [
          { apiVersion: "v1", kind: "Pod", name: "web", summary: { message: [reason] } },
        ],
      },
    });

  for (const [what, before, after, expected] of [
    ["when another message stays in the same state", failed("2", "a"), failed("3", "b"), 1],
    ["when an object is not ready for another reason", notReady("2", "a"), notReady("3", "b"), 1],
    ["not when a deployment says the same", failed("2", "a"), failed("3", "a"), 0],
  ] as const)
    test(what, () => {
      const { caches, aggregates } = setUp(["paris"], { connected: true, epoch: 1 });
      caches.groups.saw({
        metadata: { namespace: workspace, name: "all", uid: "all", resourceVersion: "1" },
        spec: { selector: {} },
      });
      caches.deployments.saw(before);
      const changed: string[] = [];
      aggregates.onGroupChange((group) => void changed.push(group));

      caches.deployments.saw(after);

      assert.deepEqual(
        changed,
        Array.from({ length: expected }, () => `${workspace}/all`),
      );
    });
});
