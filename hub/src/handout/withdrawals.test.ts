import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { clusters } from "@flotilla/shared/api/resources.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { describe, test } from "vitest";
import { aCluster, aDeployment, workspace } from "../testing/objects.ts";
import { createWithdrawals } from "./withdrawals.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const ref = { namespace: workspace, name: "paris", uid: "u", deploymentsNamespace: "house" };

function going(bundle: string): BundleDeployment {
  return aDeployment("paris", { bundle, metadata: { deletionTimestamp, uid: bundle } });
}

function start(...known: readonly BundleDeployment[]) {
  const kube = createMemoryApiServer();
  const wanted = [...known];
  const withdrawals = createWithdrawals({ rest: kube, cluster: ref, allWanted: () => wanted });
  return { kube, wanted, ...withdrawals };
}

describe("a withdrawal", () => {
  test("is sent once the API server was asked for the Cluster, once for all that go by then", async () => {
    const { kube, mayBeSent } = start(going("a"), going("b"));
    kube.put(clusters, aCluster("paris", { metadata: { uid: "u" } }));

    assert.deepEqual([await mayBeSent("a"), await mayBeSent("b")], [true, true]);

    assert.deepEqual(kube.reads, [`clusters ${workspace}/paris`]);
  });

  test("of what goes later is not sent on the word of before", async () => {
    const { kube, wanted, mayBeSent } = start(going("a"), aDeployment("paris", { bundle: "b" }));
    kube.put(clusters, aCluster("paris", { metadata: { uid: "u" } }));
    assert.equal(await mayBeSent("a"), true);

    await kube.delete(clusters, ref);
    wanted.push(going("c"));

    assert.equal(await mayBeSent("c"), false);
    assert.equal(await mayBeSent("uid-b-paris"), false);
  });

  test("is not sent while the API server cannot be asked", async () => {
    const rest = { get: () => Promise.reject(new Error("away")) };

    const { mayBeSent } = createWithdrawals({ rest, cluster: ref, allWanted: () => [] });

    await assert.rejects(mayBeSent("a"), /away/);
  });
});
