import assert from "node:assert/strict";
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  clusters,
} from "@flotilla/shared/api";
import {
  clientAnnotation,
  clusterFinalizer,
  clusterNamespaceName,
  registrationTokenAnnotation,
} from "@flotilla/shared/api/names";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf, type Namespace, namespaces, type ObjectKey } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer, serverError } from "@flotilla/shared/kube/testing";
import { describe, it } from "vitest";
import { clientDigest, clusterKeyOfNamespace } from "../clusterstate/index.ts";
import { aCluster, aDeployment, workspace } from "../testing/index.ts";
import { clusterReconciler } from "./reconcile.ts";

const paris = aCluster("paris", { status: {} });
const key = keyOf(paris);
const house = clusterNamespaceName(workspace, "paris");
const token: ClusterRegistrationToken = {
  metadata: { name: "first", namespace: workspace, uid: "token-uid" },
  spec: {},
};
const enrolled = enrolledWith("token-uid");

function enrolledWith(uid: string): Cluster {
  const annotations = { [registrationTokenAnnotation]: uid };
  return aCluster("paris", { metadata: { annotations }, spec: { clientID: "client" }, status: {} });
}

/** One that is being deleted. */
function leaving(
  deletionPolicy: "Retain" | "Uninstall",
  finalizers = ["example.com/other", clusterFinalizer],
): Cluster {
  const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers };
  return aCluster("paris", { metadata, spec: { deletionPolicy }, status: {} });
}

/** An API server, and the caches as they show it. */
function start() {
  const kube = createMemoryApiServer();
  const stores = {
    clusters: createStore<Cluster>(),
    namespaces: createStore<Namespace>(),
    deployments: createStore<BundleDeployment>(),
    tokens: createStore<ClusterRegistrationToken>(),
  };
  const marked: ObjectKey[] = [];
  const look = clusterReconciler({
    rest: kube,
    ...stores,
    refresh: (key) => marked.push(key),
  });
  return {
    kube,
    marked,
    addCluster({ isCached = true, as = paris } = {}): void {
      const stored = kube.put(clusters, as);
      if (isCached) stores.clusters.set(stored);
    },
    addDeployment({ isCached = true } = {}): void {
      const stored = kube.put(bundleDeployments, aDeployment("paris"));
      if (isCached) stores.deployments.set(stored);
    },
    addToken(): void {
      stores.tokens.set(kube.put(clusterRegistrationTokens, token));
    },
    clusterOnServer: () => kube.peek(clusters, paris.metadata),
    deploymentOnServer: () => kube.peek(bundleDeployments, aDeployment("paris").metadata),
    removedOnServer: () =>
      kube.peek(clusterRegistrationTokens, token.metadata)?.status?.removedClients,
    addNamespace(namespace: Namespace): void {
      stores.namespaces.set(kube.put(namespaces, namespace));
    },
    reconcile: () => look(key, aContext()),
    houseOnServer: () => kube.peek(namespaces, { name: house }),
  };
}

/** The namespace as it is made for the Cluster. */
async function madeNamespace(as = paris): Promise<Namespace> {
  const { addCluster, reconcile, houseOnServer } = start();
  addCluster({ as });
  await reconcile();
  const made = houseOnServer();
  assert.ok(made);
  return made;
}

describe("a new Cluster", () => {
  it("gets a namespace that says whose it is, and is told of", async () => {
    const { addCluster, reconcile, houseOnServer, marked } = start();
    addCluster();

    await reconcile();

    const made = houseOnServer();
    assert.equal(made === undefined ? undefined : clusterKeyOfNamespace(made), key);
    assert.deepEqual(marked, [key]);
  });

  it("waits while the namespace of an earlier one of its name is on its way out", async () => {
    const { addCluster, addNamespace, reconcile, kube } = start();
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

    assert.deepEqual(kube.writes, []);
  });
});

describe("a Cluster that has its namespace", () => {
  it("costs no write", async () => {
    const { addCluster, addNamespace, reconcile, kube } = start();
    addNamespace(await madeNamespace());
    addCluster();

    await reconcile();

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

describe("who has enrolled as a Cluster", () => {
  it("is known by its namespace from the start", async () => {
    const made = await madeNamespace(enrolled);

    assert.equal(made.metadata.annotations?.[registrationTokenAnnotation], "token-uid");
    assert.equal(made.metadata.annotations[clientAnnotation], clientDigest("client"));
  });

  it("is told to the namespace when it enrols later, or with another token", async () => {
    for (const before of [paris, enrolledWith("earlier")]) {
      const { addCluster, addNamespace, reconcile, houseOnServer, kube } = start();
      addNamespace(await madeNamespace(before));
      addCluster({ as: enrolled });

      await reconcile();
      await reconcile();

      const annotations = houseOnServer()?.metadata.annotations ?? {};
      assert.equal(annotations[registrationTokenAnnotation], "token-uid");
      assert.deepEqual(kube.writes, [`patch namespaces ${house}`]);
    }
  });

  it("is remembered by the token before the namespace goes with the Cluster", async () => {
    const { addNamespace, addToken, reconcile, removedOnServer, houseOnServer, kube } = start();
    addToken();
    addNamespace(await madeNamespace(enrolled));

    await reconcile();

    assert.deepEqual(removedOnServer(), [clientDigest("client")]);
    assert.equal(houseOnServer(), undefined);
    assert.deepEqual(kube.writes, [
      `replace clusterregistrationtokens ${workspace}/first`,
      `delete namespaces ${house}`,
    ]);
  });

  it("is not forgotten when the token cannot be told", async () => {
    const { addNamespace, addToken, reconcile, houseOnServer, kube } = start();
    addToken();
    addNamespace(await madeNamespace(enrolled));
    kube.failNext(serverError());

    await assert.rejects(reconcile());

    assert.notEqual(houseOnServer(), undefined);
  });
});

describe("what a Cluster has installed", () => {
  it("keeps the Cluster from going before it is uninstalled, where that is wanted", async () => {
    const { addCluster, addNamespace, reconcile, clusterOnServer, kube } = start();
    const spec = { deletionPolicy: "Uninstall" } as const;
    const finalizers = ["example.com/other"];
    addNamespace(await madeNamespace());
    addCluster({ as: aCluster("paris", { metadata: { finalizers }, spec, status: {} }) });

    await reconcile();
    await reconcile();

    assert.deepEqual(clusterOnServer()?.metadata.finalizers, [...finalizers, clusterFinalizer]);
    assert.equal(kube.writes.length, 1);
  });

  it("keeps it no more where that is wanted no more", async () => {
    const { addCluster, addNamespace, reconcile, clusterOnServer } = start();
    addNamespace(await madeNamespace());
    addCluster({
      as: aCluster("paris", { metadata: { finalizers: [clusterFinalizer] }, status: {} }),
    });

    await reconcile();

    assert.deepEqual(clusterOnServer()?.metadata.finalizers, []);
  });

  it("is withdrawn when the Cluster is deleted, which waits for it", async () => {
    const { addCluster, addDeployment, addNamespace, reconcile, ...seen } = start();
    addNamespace(await madeNamespace());
    addDeployment();
    addCluster({ as: leaving("Uninstall") });

    await reconcile();

    assert.notEqual(seen.deploymentOnServer()?.metadata.deletionTimestamp, undefined);
    assert.ok(seen.clusterOnServer()?.metadata.finalizers?.includes(clusterFinalizer));
  });

  it("is waited for also when only the API server knows of it", async () => {
    const { addCluster, addDeployment, reconcile, clusterOnServer } = start();
    addDeployment({ isCached: false });
    addCluster({ as: leaving("Uninstall") });

    await reconcile();

    assert.ok(clusterOnServer()?.metadata.finalizers?.includes(clusterFinalizer));
  });

  it("lets the Cluster go once it is gone, and leaves other people's finalizers", async () => {
    const { addCluster, reconcile, clusterOnServer } = start();
    addCluster({ as: leaving("Uninstall") });

    await reconcile();

    assert.deepEqual(clusterOnServer()?.metadata.finalizers, ["example.com/other"]);
  });

  it("is left, and the Cluster goes at once, when somebody says so while it is being deleted", async () => {
    const { addCluster, addDeployment, reconcile, clusterOnServer, ...seen } = start();
    addDeployment();
    addCluster({ as: leaving("Retain", [clusterFinalizer]) });

    await reconcile();

    assert.equal(clusterOnServer(), undefined);
    assert.equal(seen.deploymentOnServer()?.metadata.deletionTimestamp, undefined);
  });
});
