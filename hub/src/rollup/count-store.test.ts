import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { keyOf } from "@flotilla/shared/kube/object.ts";
import { createStore } from "@flotilla/shared/kube/store.ts";
import { aDeployment, digestA, digestB, workspace } from "../testing/objects.ts";
import { countStore } from "./count-store.ts";
import { createTallies } from "./tally.ts";

const status = { appliedDeploymentID: digestA, ready: true };

/** The BundleDeployment as it is at one version. */
function at(resourceVersion: string, deploymentID: string): BundleDeployment {
  const spec = { deploymentID, stagedDeploymentID: deploymentID };
  const deployment = aDeployment("paris", { status });
  return { ...deployment, spec, metadata: { ...deployment.metadata, resourceVersion } };
}

function setUp() {
  const store = createStore<BundleDeployment>();
  const tallies = createTallies();
  const count = countStore(store, tallies);
  const watched = (deployment: BundleDeployment): void => {
    store.set(deployment);
    count(keyOf(deployment));
  };
  const states = () => {
    const { total, states } = tallies.ofBundle(`${workspace}/web`);
    return { total, ready: states.Ready, waiting: states.WaitApplied };
  };
  return { store, count, watched, states };
}

describe("counting a store", () => {
  test("counts a write at once, and not what the watch is behind with", () => {
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

  test("counts once however often it is called, and nothing that is gone", () => {
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
