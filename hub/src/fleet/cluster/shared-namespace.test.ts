import assert from "node:assert/strict";
import {
  type BundleDeployment,
  type Cluster,
  type ClusterRegistrationToken,
  clusters,
} from "@flotilla/shared/api";
import {
  clusterNamespaceName,
  fleetClusterNamespaceName,
  managedLabel,
} from "@flotilla/shared/api/names";
import { createStore } from "@flotilla/shared/kube/cache";
import { type Namespace, namespaces } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, it } from "vitest";
import { clusterNamespaceFor } from "../../base/clusterstate/cluster-namespace.ts";
import { aCluster, workspace } from "../../testing/index.ts";
import { clusterReconciler } from "./reconcile.ts";

// Fleet shortens the names of both namespaces to the same one.
const [one, other] = [
  "retail-emea-production-store-edge-gateway-98",
  "retail-emea-production-store-edge-gateway-620",
] as const;
const shared = fleetClusterNamespaceName(workspace, one);
const ownName = (cluster: string) => clusterNamespaceName(workspace, cluster);

function start() {
  const kube = createMemoryApiServer();
  const events: string[] = [];
  const stores = {
    clusters: createStore<Cluster>(),
    namespaces: createStore<Namespace>(),
    deployments: createStore<BundleDeployment>(),
    tokens: createStore<ClusterRegistrationToken>(),
  };
  const reconcile = clusterReconciler({
    rest: kube,
    ...stores,
    refresh: () => undefined,
    events: {
      record: ({ metadata }, { reason, note }) => {
        events.push(`${metadata.name}: ${reason}: ${note}`);
      },
      flush: () => Promise.resolve(),
    },
  });
  return {
    kube,
    events,
    addCluster(name: string, status: NonNullable<Cluster["status"]> = {}): Cluster {
      const stored = kube.put(clusters, aCluster(name, { status }));
      stores.clusters.set(stored);
      return stored;
    },
    deleteCluster(name: string): void {
      const stored = stores.clusters.get(`${workspace}/${name}`);
      assert.ok(stored);
      kube.remove(clusters, stored.metadata);
      stores.clusters.remove(stored);
    },
    addNamespace(namespace: Namespace, { isCached = true } = {}): void {
      const stored = kube.put(namespaces, namespace);
      if (isCached) stores.namespaces.set(stored);
    },
    reconcile: (name: string) => reconcile(`${workspace}/${name}`, aContext()),
    exists: (name: string) => kube.peek(namespaces, { name }) !== undefined,
  };
}

describe("two Clusters whose namespaces have one name in Fleet", () => {
  it("get two, and the deletion of one leaves the other's", async () => {
    const { addCluster, deleteCluster, reconcile, exists } = start();
    assert.equal(shared, fleetClusterNamespaceName(workspace, other));
    addCluster(one);
    addCluster(other);
    await reconcile(one);
    await reconcile(other);
    assert.ok(exists(ownName(one)) && exists(ownName(other)));

    deleteCluster(one);
    await reconcile(one);

    assert.equal(exists(ownName(one)), false);
    assert.equal(exists(ownName(other)), true);
  });

  it("that shared it until now are separated, and both have an Event", async () => {
    const { addCluster, addNamespace, deleteCluster, reconcile, exists, events } = start();
    const first = addCluster(one, { namespace: shared });
    addCluster(other, { namespace: shared });
    addNamespace(clusterNamespaceFor(first));

    await reconcile(one);
    await reconcile(other);

    assert.equal(exists(ownName(one)), false);
    assert.equal(exists(ownName(other)), true);
    assert.match(events.join("\n"), new RegExp(`${other}: NamespaceShared: .*belongs to Cluster`));
    assert.match(events.join("\n"), new RegExp(`${one}: NamespaceShared: .*no longer uses`));

    deleteCluster(other);
    await reconcile(other);

    assert.equal(exists(shared), true);
  });
});

describe("a Cluster with a long name", () => {
  it("keeps the namespace that it has from an earlier version", async () => {
    const { addCluster, addNamespace, reconcile, exists } = start();
    addNamespace(clusterNamespaceFor(addCluster(one, { namespace: shared })));

    await reconcile(one);

    assert.equal(exists(ownName(one)), false);
  });

  it("keeps it also when a restored backup has no status", async () => {
    const { addCluster, addNamespace, reconcile, exists } = start();
    addNamespace(clusterNamespaceFor(aCluster(one), shared));
    addCluster(one);

    await reconcile(one);

    assert.equal(exists(ownName(one)), false);
  });

  it("has that namespace deleted with it", async () => {
    const { addNamespace, reconcile, exists } = start();
    const { metadata, ...namespace } = clusterNamespaceFor(aCluster(one), shared);
    const fieldsV1 = { "f:metadata": { "f:labels": { "f:kubernetes.io/metadata.name": {} } } };
    const managedFields = [{ manager: "fleetcontroller", fieldsV1 }];
    addNamespace({ ...namespace, metadata: { ...metadata, managedFields } });

    await reconcile(one);

    assert.equal(exists(shared), false);
  });
});

describe("a namespace that belongs to another Cluster", () => {
  for (const [what, isCached, labels] of [
    ["", true, { [managedLabel]: "true" }],
    [" and is not in the cache", false, { [managedLabel]: "true" }],
    [" and lost its label", false, {}],
  ] as const) {
    it(`is not taken over when it has the name of ours${what}; both Clusters have an Event`, async () => {
      const { addCluster, addNamespace, deleteCluster, reconcile, exists, events } = start();
      addCluster("paris");
      const { metadata } = clusterNamespaceFor(addCluster("london"));
      const name = ownName("paris");
      addNamespace({ metadata: { ...metadata, name, labels } }, { isCached });

      const result = await reconcile("paris");

      assert.equal(result.kind, "requeue");
      assert.match(events.join("\n"), /paris: NamespaceTaken: .* belongs to Cluster .*london/);
      assert.match(events.join("\n"), /london: NamespaceTaken: .*this Cluster keeps it/);

      deleteCluster("paris");
      await reconcile("paris");

      assert.equal(exists(name), true);
    });
  }

  it("is not taken over when it becomes that while the hub adopts it", async () => {
    const { kube, addCluster, addNamespace, reconcile } = start();
    addCluster("paris");
    const name = ownName("paris");
    addNamespace({ metadata: { name } }, { isCached: false });
    const { annotations = {} } = clusterNamespaceFor(aCluster("london")).metadata;
    kube.beforeWrite = (write) => {
      if (write.startsWith("patch")) kube.put(namespaces, { metadata: { name, annotations } });
    };

    await assert.rejects(reconcile("paris"), { status: 409 });

    assert.deepEqual(kube.peek(namespaces, { name })?.metadata.annotations, annotations);
  });

  it("is not deleted when it becomes that while the hub deletes its own", async () => {
    const { kube, addNamespace, reconcile, exists } = start();
    const name = ownName("paris");
    const { metadata } = clusterNamespaceFor(aCluster("paris"));
    addNamespace({ metadata: { ...metadata, name, uid: "ours" } });
    kube.beforeWrite = () => {
      kube.remove(namespaces, { name });
      kube.put(namespaces, { metadata: { name, uid: "theirs" } });
    };

    await assert.rejects(reconcile("paris"), { status: 409 });

    assert.equal(exists(name), true);
  });
});
