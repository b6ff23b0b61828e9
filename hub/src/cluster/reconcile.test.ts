import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { clusters } from "@flotilla/shared/api/resources.ts";
import { type Namespace, namespaces } from "@flotilla/shared/kube/core-resources.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import { createStore } from "@flotilla/shared/kube/store.ts";
import { aContext } from "@flotilla/shared/kube/testing/a-context.ts";
import { createMemoryKube } from "../testing/memory-kube.ts";
import { aCluster, workspace } from "../testing/objects.ts";
import { clusterKeyOfNamespace, clusterReconciler } from "./reconcile.ts";

const paris = aCluster("paris", { status: {} });
const key = keyOf(paris);
const house = clusterNamespaceName(workspace, "paris");

/** An API server, and the caches as they show it. */
function start() {
  const kube = createMemoryKube();
  const stores = { clusters: createStore<Cluster>(), namespaces: createStore<Namespace>() };
  const housed = new Set<ObjectKey>();
  const marked: ObjectKey[] = [];
  const look = clusterReconciler({
    rest: kube,
    ...stores,
    housed,
    markStatus: (marks) => marked.push(marks),
  });
  return {
    kube,
    housed,
    marked,
    addCluster({ isCached = true } = {}): void {
      const stored = kube.put(clusters, paris);
      if (isCached) stores.clusters.set(stored);
    },
    addNamespace(namespace: Namespace): void {
      stores.namespaces.set(kube.put(namespaces, namespace));
    },
    reconcile: () => look(key, aContext()),
    houseOnServer: () => kube.peek(namespaces, { name: house }),
  };
}

/** The namespace as it is made for the Cluster. */
async function madeNamespace(): Promise<Namespace> {
  const { addCluster, reconcile, houseOnServer } = start();
  addCluster();
  await reconcile();
  const made = houseOnServer();
  assert.ok(made);
  return made;
}

describe("a new Cluster", () => {
  it("gets a namespace that says whose it is, and is told of", async () => {
    const { addCluster, reconcile, houseOnServer, housed, marked } = start();
    addCluster();

    await reconcile();

    const made = houseOnServer();
    assert.equal(made === undefined ? undefined : clusterKeyOfNamespace(made), key);
    assert.deepEqual([...housed], [key]);
    assert.deepEqual(marked, [key]);
  });

  it("waits while the namespace of an earlier one of its name is on its way out", async () => {
    const { addCluster, addNamespace, reconcile, housed, kube } = start();
    const leaving = await madeNamespace();
    const { metadata } = leaving;
    addNamespace({
      ...leaving,
      metadata: {
        ...metadata,
        deletionTimestamp: "2026-01-01T00:00:00Z",
        finalizers: ["kubernetes"],
      },
    });
    addCluster();

    await reconcile();

    assert.deepEqual([...housed], []);
    assert.deepEqual(kube.writes, []);
  });
});

describe("a Cluster that has its namespace", () => {
  it("costs no write", async () => {
    const { addCluster, addNamespace, reconcile, housed, kube } = start();
    addNamespace(await madeNamespace());
    addCluster();

    await reconcile();

    assert.deepEqual([...housed], [key]);
    assert.deepEqual(kube.writes, []);
  });
});

describe("a Cluster that is gone", () => {
  it("takes its namespace with it", async () => {
    const { addNamespace, reconcile, houseOnServer } = start();
    addNamespace(await madeNamespace());

    await reconcile();

    assert.equal(houseOnServer(), undefined);
  });

  it("keeps its namespace when only our cache says that it is gone", async () => {
    const { addCluster, addNamespace, reconcile, houseOnServer } = start();
    addNamespace(await madeNamespace());
    addCluster({ isCached: false });

    await reconcile();

    assert.notEqual(houseOnServer(), undefined);
  });

  it("leaves a namespace alone that only has the name", async () => {
    const { addNamespace, reconcile, houseOnServer } = start();
    addNamespace({ apiVersion: "v1", kind: "Namespace", metadata: { name: house } });

    await reconcile();

    assert.notEqual(houseOnServer(), undefined);
  });
});
