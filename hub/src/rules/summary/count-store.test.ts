import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { aDeployment, digestA, digestB, workspace } from "../../testing/index.ts";
import { createDeploymentAggregates } from "./bundle-aggregate.ts";
import { countStore } from "./count-store.ts";

const status = { appliedDeploymentID: digestA, ready: true };

/** The BundleDeployment at one version. */
function at(resourceVersion: string, deploymentID: string): BundleDeployment {
  const spec = { deploymentID, stagedDeploymentID: deploymentID };
  const deployment = aDeployment("paris", { status });
  return { ...deployment, spec, metadata: { ...deployment.metadata, resourceVersion } };
}

function setUp() {
  const store = createStore<BundleDeployment>();
  const aggregates = createDeploymentAggregates();
  const offlineClusters = new Set<ObjectKey>();
  const count = countStore(store, aggregates, (deployment) =>
    offlineClusters.has(clusterKeyOf(deployment)) ? "offline" : "connected",
  );
  const watched = (deployment: BundleDeployment): void => {
    store.set(deployment);
    count(keyOf(deployment));
  };
  const states = () => {
    const { total, states } = aggregates.ofBundle(`${workspace}/web`);
    return { total, ready: states.Ready, waiting: states.WaitApplied };
  };
  const offline = () => {
    const { offline: keys, states } = aggregates.ofBundle(`${workspace}/web`);
    return { clusters: keys.size, unknown: states.Offline };
  };
  return { store, count, watched, states, offlineClusters, offline };
}

describe("counting a store", () => {
  test("counts our own write at once, and ignores a stale watch event", () => {
    const { store, count, watched, states } = setUp();
    watched(at("1", digestA));
    assert.deepEqual(states(), { total: 1, ready: 1, waiting: 0 });

    const written = at("3", digestB);
    store.wrote(written);
    count(keyOf(written));
    assert.deepEqual(states(), { total: 1, ready: 0, waiting: 1 });

    watched(at("2", digestA));
    assert.deepEqual(states(), { total: 1, ready: 0, waiting: 1 });
    watched(at("3", digestB));
    assert.deepEqual(states(), { total: 1, ready: 0, waiting: 1 });
  });

  test("removes our own write from the counts when the object was deleted before its watch event", () => {
    const { store, count, states } = setUp();
    const written = at("3", digestB);
    store.wrote(written);
    count(keyOf(written));
    assert.deepEqual(states(), { total: 1, ready: 0, waiting: 1 });

    for (const { key } of store.beginList()([], "4")) count(key);

    assert.deepEqual(states(), { total: 0, ready: 0, waiting: 0 });
  });

  test("counts the deployments of a cluster again when the cluster is created or deleted", () => {
    const { store, count, watched, states, offlineClusters, offline } = setUp();
    watched(at("1", digestA));

    offlineClusters.add(`${workspace}/paris`);
    count(keyOf(at("1", digestA)));
    assert.deepEqual(states(), { total: 1, ready: 1, waiting: 0 });
    assert.deepEqual(offline(), { clusters: 1, unknown: 0 });

    watched(at("2", digestB));
    assert.deepEqual(states(), { total: 1, ready: 0, waiting: 0 });
    assert.deepEqual(offline(), { clusters: 1, unknown: 1 });

    offlineClusters.clear();
    count(keyOf(at("2", digestB)));
    assert.deepEqual(states(), { total: 1, ready: 0, waiting: 1 });
    assert.deepEqual(offline(), { clusters: 0, unknown: 0 });

    offlineClusters.add(`${workspace}/paris`);
    count(keyOf(at("2", digestB)));
    store.remove(at("2", digestB));
    count(keyOf(at("2", digestB)));
    assert.deepEqual(states(), { total: 0, ready: 0, waiting: 0 });
    assert.deepEqual(offline(), { clusters: 0, unknown: 0 });
  });

  test("counts a deployment once, however often it is called, and no deleted one", () => {
    const { store, count, watched, states } = setUp();
    const deployment = at("1", digestA);
    watched(deployment);
    count(keyOf(deployment));
    assert.deepEqual(states(), { total: 1, ready: 1, waiting: 0 });

    store.remove(deployment);
    count(keyOf(deployment));
    count(keyOf(deployment));
    assert.deepEqual(states(), { total: 0, ready: 0, waiting: 0 });
  });
});
