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
  clusterManagementLabel,
  clusterNamespaceName,
  registrationTokenAnnotation,
} from "@flotilla/shared/api/names";
import { createStore } from "@flotilla/shared/kube/cache";
import {
  configMaps,
  keyOf,
  type Namespace,
  namespaces,
  type ObjectKey,
} from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer, serverError } from "@flotilla/shared/kube/testing";
import { describe, it } from "vitest";
import { clientDigest, clusterKeyOfNamespace } from "../../base/clusterstate/cluster-namespace.ts";
import { aCluster, aDeployment, workspace } from "../../testing/index.ts";
import { clusterReconciler } from "./reconcile.ts";

const paris = aCluster("paris", { status: {} });
const key = keyOf(paris);
const namespaceName = clusterNamespaceName(workspace, "paris");
const token: ClusterRegistrationToken = {
  metadata: { name: "first", namespace: workspace, uid: "token-uid" },
  spec: {},
};
const enrolled = enrolledWith("token-uid");

function enrolledWith(uid: string): Cluster {
  const annotations = { [registrationTokenAnnotation]: uid };
  return aCluster("paris", { metadata: { annotations }, spec: { clientID: "client" }, status: {} });
}

/** A Cluster that is being deleted. */
function terminating(
  deletionPolicy: "Retain" | "Uninstall",
  finalizers = ["example.com/other", clusterFinalizer],
): Cluster {
  const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers };
  return aCluster("paris", { metadata, spec: { deletionPolicy }, status: {} });
}

/** An API server, and the caches with its objects. */
function start() {
  const kube = createMemoryApiServer();
  const stores = {
    clusters: createStore<Cluster>(),
    namespaces: createStore<Namespace>(),
    deployments: createStore<BundleDeployment>(),
    tokens: createStore<ClusterRegistrationToken>(),
  };
  const enqueued: ObjectKey[] = [];
  const notes: string[] = [];
  const reconcileCluster = clusterReconciler({
    rest: kube,
    ...stores,
    refresh: (key) => enqueued.push(key),
    events: {
      record: (_, { note }) => void notes.push(note),
      flush: () => Promise.resolve(),
    },
  });
  return {
    kube,
    notes,
    enqueued,
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
    reconcile: () => reconcileCluster(key, aContext()),
    namespaceOnServer: () => kube.peek(namespaces, { name: namespaceName }),
  };
}

/** The namespace as the hub creates it for the Cluster. */
async function madeNamespace(as = paris): Promise<Namespace> {
  const { addCluster, reconcile, namespaceOnServer } = start();
  addCluster({ as });
  await reconcile();
  const made = namespaceOnServer();
  assert.ok(made);
  return made;
}

describe("a new Cluster", () => {
  it("gets a namespace that names its Cluster, and the Bundles are enqueued", async () => {
    const { addCluster, reconcile, namespaceOnServer, enqueued } = start();
    addCluster();

    await reconcile();

    const made = namespaceOnServer();
    assert.equal(made === undefined ? undefined : clusterKeyOfNamespace(made), key);
    assert.deepEqual(enqueued, [key]);
  });

  for (const [what, customization, stored] of [
    ["an empty agentSchedulingCustomization is removed", {}, undefined],
    ["one that is set stays", { priorityClass: { value: 5 } }, { priorityClass: { value: 5 } }],
  ] as const)
    it(what, async () => {
      const { addCluster, reconcile, clusterOnServer } = start();
      const spec = { ...paris.spec, agentSchedulingCustomization: customization };
      addCluster({ as: { ...paris, spec } });

      await reconcile();

      assert.deepEqual(clusterOnServer()?.spec.agentSchedulingCustomization, stored);
      assert.equal("agentSchedulingCustomization" in (clusterOnServer()?.spec ?? {}), !!stored);
    });

  it("waits while the namespace of an earlier Cluster of its name is terminating", async () => {
    const { addCluster, addNamespace, reconcile, kube } = start();
    const terminating = await madeNamespace();
    const { metadata } = terminating;
    addNamespace({
      ...terminating,
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

describe("a Cluster that another system manages", () => {
  it("gets no namespace and no finalizer, and its status says so", async () => {
    const { addCluster, reconcile, kube, enqueued } = start();
    const labels = { [clusterManagementLabel]: "CLI" };
    addCluster({
      as: aCluster("paris", { metadata: { labels }, spec: { deletionPolicy: "Uninstall" } }),
    });

    await reconcile();

    assert.deepEqual(kube.writes, []);
    assert.deepEqual(enqueued, [key]);
  });

  it("is removed at once with its deployments as they are", async () => {
    const { addCluster, addDeployment, reconcile, ...seen } = start();
    const as = terminating("Uninstall", [clusterFinalizer]);
    addDeployment();
    addCluster({
      as: { ...as, metadata: { ...as.metadata, labels: { [clusterManagementLabel]: "CLI" } } },
    });

    await reconcile();

    assert.equal(seen.clusterOnServer(), undefined);
    assert.equal(seen.deploymentOnServer()?.metadata.deletionTimestamp, undefined);
  });
});

describe("a Cluster that has its namespace", () => {
  it("is not written again", async () => {
    const { addCluster, addNamespace, reconcile, kube } = start();
    addNamespace(await madeNamespace());
    addCluster();

    await reconcile();

    assert.deepEqual(kube.writes, []);
  });
});

describe("a deleted Cluster", () => {
  it("has its namespace deleted", async () => {
    const { addNamespace, reconcile, namespaceOnServer } = start();
    addNamespace(await madeNamespace());

    await reconcile();

    assert.equal(namespaceOnServer(), undefined);
  });

  it("keeps its namespace when it is missing only in our cache", async () => {
    const { addCluster, addNamespace, reconcile, namespaceOnServer } = start();
    addNamespace(await madeNamespace());
    addCluster({ isCached: false });

    await reconcile();

    assert.notEqual(namespaceOnServer(), undefined);
  });

  it("keeps a namespace that the hub has not created, and removes its own label from it", async () => {
    const { addNamespace, reconcile, namespaceOnServer } = start();
    const { managedFields: _, ...metadata } = (await madeNamespace()).metadata;
    const theirs = { ...metadata, labels: { ...metadata.labels, team: "shop" } };
    addNamespace({ apiVersion: "v1", kind: "Namespace", metadata: theirs });

    await reconcile();

    const left = namespaceOnServer();
    assert.deepEqual(left?.metadata.labels, { team: "shop" });
    assert.deepEqual(left.metadata.annotations ?? {}, {});
  });

  it("keeps a namespace with an object of somebody else, and says which, until that is gone", async () => {
    const { addNamespace, reconcile, namespaceOnServer, kube, notes } = start();
    addNamespace(await madeNamespace());
    kube.put(configMaps, { metadata: { namespace: namespaceName, name: "theirs" } });

    await reconcile();

    assert.notEqual(namespaceOnServer(), undefined);
    assert.match(notes.join(), /that the hub did not make, ConfigMap theirs, so it is not deleted/);
    await kube.delete(configMaps, { namespace: namespaceName, name: "theirs" });
    await reconcile();
    assert.equal(namespaceOnServer(), undefined);
  });

  it("keeps a namespace that has the name but not our label", async () => {
    const { addNamespace, reconcile, namespaceOnServer } = start();
    addNamespace({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespaceName } });

    await reconcile();

    assert.notEqual(namespaceOnServer(), undefined);
  });
});

describe("the client that enrolled as a Cluster", () => {
  it("is recorded in the namespace when that is created", async () => {
    const made = await madeNamespace(enrolled);

    assert.equal(made.metadata.annotations?.[registrationTokenAnnotation], "token-uid");
    assert.equal(made.metadata.annotations[clientAnnotation], clientDigest("client"));
  });

  it("is recorded in the namespace when it enrols later, or with another token", async () => {
    for (const before of [paris, enrolledWith("earlier")]) {
      const { addCluster, addNamespace, reconcile, namespaceOnServer, kube } = start();
      addNamespace(await madeNamespace(before));
      addCluster({ as: enrolled });

      await reconcile();
      await reconcile();

      const annotations = namespaceOnServer()?.metadata.annotations ?? {};
      assert.equal(annotations[registrationTokenAnnotation], "token-uid");
      assert.deepEqual(kube.writes, [`patch namespaces ${namespaceName}`]);
    }
  });

  it("is recorded in the token before the namespace is deleted with the Cluster", async () => {
    const { addNamespace, addToken, reconcile, removedOnServer, namespaceOnServer, kube } = start();
    addToken();
    addNamespace(await madeNamespace(enrolled));

    await reconcile();

    assert.deepEqual(removedOnServer(), [clientDigest("client")]);
    assert.equal(namespaceOnServer(), undefined);
    assert.deepEqual(kube.writes, [
      `replace clusterregistrationtokens ${workspace}/first`,
      `delete namespaces ${namespaceName}`,
    ]);
  });

  it("keeps the namespace when the token cannot be written", async () => {
    const { addNamespace, addToken, reconcile, namespaceOnServer, kube } = start();
    addToken();
    addNamespace(await madeNamespace(enrolled));
    kube.failNext(serverError());

    await assert.rejects(reconcile());

    assert.notEqual(namespaceOnServer(), undefined);
  });
});

describe("the deployments of a Cluster that is being deleted", () => {
  it("block its deletion until they are uninstalled, when the policy asks for that", async () => {
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

  it("no longer block it when the policy changes", async () => {
    const { addCluster, addNamespace, reconcile, clusterOnServer } = start();
    addNamespace(await madeNamespace());
    addCluster({
      as: aCluster("paris", { metadata: { finalizers: [clusterFinalizer] }, status: {} }),
    });

    await reconcile();

    assert.deepEqual(clusterOnServer()?.metadata.finalizers, []);
  });

  it("are withdrawn, and the Cluster waits for them", async () => {
    const { addCluster, addDeployment, addNamespace, reconcile, ...seen } = start();
    addNamespace(await madeNamespace());
    addDeployment();
    addCluster({ as: terminating("Uninstall") });

    await reconcile();

    assert.notEqual(seen.deploymentOnServer()?.metadata.deletionTimestamp, undefined);
    assert.ok(seen.clusterOnServer()?.metadata.finalizers?.includes(clusterFinalizer));
  });

  it("block it also when only the API server has them", async () => {
    const { addCluster, addDeployment, reconcile, clusterOnServer } = start();
    addDeployment({ isCached: false });
    addCluster({ as: terminating("Uninstall") });

    await reconcile();

    assert.ok(clusterOnServer()?.metadata.finalizers?.includes(clusterFinalizer));
  });

  it("unblock it once they are deleted; finalizers of others stay", async () => {
    const { addCluster, reconcile, clusterOnServer } = start();
    addCluster({ as: terminating("Uninstall") });

    await reconcile();

    assert.deepEqual(clusterOnServer()?.metadata.finalizers, ["example.com/other"]);
  });

  it("stay installed when the policy changes to Retain, and the Cluster is deleted at once", async () => {
    const { addCluster, addDeployment, reconcile, clusterOnServer, ...seen } = start();
    addDeployment();
    addCluster({ as: terminating("Retain", [clusterFinalizer]) });

    await reconcile();

    assert.equal(clusterOnServer(), undefined);
    assert.equal(seen.deploymentOnServer()?.metadata.deletionTimestamp, undefined);
  });
});
