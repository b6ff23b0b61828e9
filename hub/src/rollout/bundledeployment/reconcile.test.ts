import assert from "node:assert/strict";
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  clusters,
} from "@flotilla/shared/api";
import {
  bundleDeploymentFinalizer,
  clusterManagementLabel,
  clusterNamespaceName,
  clusterUidLabel,
} from "@flotilla/shared/api/names";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import {
  aContext,
  conflict,
  createMemoryApiServer,
  serverError,
} from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { aCluster, aDeployment, workspace } from "../../testing/index.ts";
import { needsNoConfirmation, release, tombstoneReconciler } from "./reconcile.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const terminating = aDeployment("paris", { metadata: { deletionTimestamp } });
const connected = aCluster("paris", { status: { agent: { connected: true, epoch: 3 } } });

const cases: readonly (readonly [
  what: string,
  deployment: BundleDeployment,
  cluster: Cluster | undefined,
  goes: boolean,
])[] = [
  [
    "that is not being deleted keeps its finalizer, even without a cluster",
    aDeployment("paris"),
    undefined,
    false,
  ],
  ["of a connected cluster waits for its agent", terminating, connected, false],
  [
    "of a disconnected cluster waits for its agent",
    terminating,
    aCluster("paris", { status: { agent: { connected: false, epoch: 3 } } }),
    false,
  ],
  ["of a cluster that never connected is released", terminating, aCluster("paris"), true],
  ["of a deleted cluster is released", terminating, undefined, true],
  [
    "of a cluster that another system manages keeps its finalizer",
    terminating,
    aCluster("paris", { metadata: { labels: { [clusterManagementLabel]: "CLI" } } }),
    false,
  ],
  [
    "in a namespace that its cluster has left is released",
    aDeployment("paris", { metadata: { deletionTimestamp, namespace: "cluster-shared" } }),
    {
      ...connected,
      status: {
        namespace: clusterNamespaceName(workspace, "paris"),
        agent: { connected: true, epoch: 3 },
      },
    },
    true,
  ],
  [
    "of an earlier cluster of that name is released",
    aDeployment("paris", {
      metadata: {
        deletionTimestamp,
        labels: { ...terminating.metadata.labels, [clusterUidLabel]: "earlier" },
      },
    }),
    { ...connected, metadata: { ...connected.metadata, uid: "present" } },
    true,
  ],
];
for (const [what, deployment, cluster, goes] of cases) {
  test(`a deployment ${what}`, async () => {
    const kube = createMemoryApiServer();
    const deployments = createStore<BundleDeployment>();
    deployments.set(kube.put(bundleDeployments, deployment));
    const known = createStore<Cluster>();
    if (cluster !== undefined) known.set(kube.put(clusters, cluster));

    await tombstoneReconciler({ rest: kube, deployments, clusters: known })(
      keyOf(deployment),
      aContext(),
    );

    assert.equal(needsNoConfirmation(deployment, cluster), goes);
    assert.equal(kube.peek(bundleDeployments, deployment.metadata) === undefined, goes);
  });
}

test("a deployment names its cluster by its labels", () => {
  assert.equal(clusterKeyOf(terminating), `${workspace}/paris`);
});

describe("removing the finalizer of a deployment", () => {
  test("keeps the finalizers of others", async () => {
    const kube = createMemoryApiServer();
    const finalizers = ["example.com/other", bundleDeploymentFinalizer];
    const withOtherFinalizer = kube.put(
      bundleDeployments,
      aDeployment("paris", { metadata: { deletionTimestamp, finalizers } }),
    );

    await release(kube, withOtherFinalizer);

    assert.deepEqual(
      kube.peek(bundleDeployments, withOtherFinalizer.metadata)?.metadata.finalizers,
      ["example.com/other"],
    );
  });

  test("does nothing when a new object has the same name", async () => {
    const kube = createMemoryApiServer();
    const recreated = kube.put(
      bundleDeployments,
      aDeployment("paris", { metadata: { uid: "uid-new" } }),
    );

    await release(kube, terminating);

    assert.deepEqual(kube.peek(bundleDeployments, terminating.metadata), recreated);
  });

  test("succeeds when the deployment is already deleted", async () => {
    const kube = createMemoryApiServer();

    await release(kube, terminating);

    assert.equal(kube.peek(bundleDeployments, terminating.metadata), undefined);
    assert.equal(kube.writes.length, 1);
  });

  test("succeeds when another client removes it first", async () => {
    const kube = createMemoryApiServer();
    kube.put(bundleDeployments, terminating);
    kube.failNext(conflict());

    await release(kube, terminating);

    assert.ok(kube.peek(bundleDeployments, terminating.metadata), "it is another one by now");
    assert.equal(kube.writes.length, 1);
  });

  test("fails when the API server does", async () => {
    const kube = createMemoryApiServer();
    kube.failNext(serverError());

    await assert.rejects(release(kube, terminating), { code: "KUBE_SERVER" });
  });
});
