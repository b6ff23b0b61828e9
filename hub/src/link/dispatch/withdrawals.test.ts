import assert from "node:assert/strict";
import { type BundleDeployment, clusters } from "@flotilla/shared/api";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { aCluster, aDeployment, workspace } from "../../testing/index.ts";
import { createWithdrawals } from "./withdrawals.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const ref = {
  namespace: workspace,
  name: "paris",
  uid: "u",
  deploymentsNamespace: "cluster-paris",
};

function deleted(bundle: string): BundleDeployment {
  return aDeployment("paris", { bundle, metadata: { deletionTimestamp, uid: bundle } });
}

function start(...known: readonly BundleDeployment[]) {
  const kube = createMemoryApiServer();
  const deployments = [...known];
  const withdrawals = createWithdrawals({
    rest: kube,
    cluster: ref,
    deployments: () => deployments,
  });
  return { kube, deployments, ...withdrawals };
}

describe("a withdrawal", () => {
  test("is sent after one read of the Cluster for all deployments that are deleted by then", async () => {
    const { kube, mayBeSent } = start(deleted("a"), deleted("b"));
    kube.put(clusters, aCluster("paris", { metadata: { uid: "u" } }));

    assert.deepEqual([await mayBeSent("a"), await mayBeSent("b")], [true, true]);

    assert.deepEqual(kube.reads, [`clusters ${workspace}/paris`]);
  });

  test("of a later deletion needs another read", async () => {
    const { kube, deployments, mayBeSent } = start(
      deleted("a"),
      aDeployment("paris", { bundle: "b" }),
    );
    kube.put(clusters, aCluster("paris", { metadata: { uid: "u" } }));
    assert.equal(await mayBeSent("a"), true);

    await kube.delete(clusters, ref);
    deployments.push(deleted("c"));

    assert.equal(await mayBeSent("c"), false);
    assert.equal(await mayBeSent("uid-b-paris"), false);
  });

  test("is not sent while the API server cannot be reached", async () => {
    const rest = { get: () => Promise.reject(new Error("unavailable")) };

    const { mayBeSent } = createWithdrawals({ rest, cluster: ref, deployments: () => [] });

    await assert.rejects(mayBeSent("a"), /unavailable/);
  });
});
