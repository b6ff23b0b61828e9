/**
 * Each Cluster has a namespace of its own on the hub, where its BundleDeployments are. Its name follows from the
 * Cluster's, so nothing has to be looked up; it goes when the Cluster is gone.
 */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusterNamespaceName, managedLabel } from "@flotilla/shared/api/names.ts";
import { clusters } from "@flotilla/shared/api/resources.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/client/status-error.ts";
import { done, type Reconcile } from "@flotilla/shared/kube/controller/reconcile.ts";
import { type Namespace, namespaces } from "@flotilla/shared/kube/objects/core-resources.ts";
import { type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import {
  clusterKeyOfNamespace,
  clusterNamespaceFor,
  enrolmentAnnotations,
  isEnrolmentOutdated,
  removedClientOf,
} from "../clusterstate/cluster-namespace.ts";
import {
  type RemovedClientsDeps,
  recordRemovedClient,
} from "../registrationtoken/removed-clients.ts";
import { type EmptyDeps, emptyCluster, ensureFinalizer } from "./empty.ts";

export interface ClusterDeps extends EmptyDeps, RemovedClientsDeps {
  /** The managed namespaces only. */
  readonly namespaces: Store<Namespace>;
  /** Rolls up the status of a Cluster. */
  readonly refresh: (key: ObjectKey) => void;
}

export function clusterReconciler(deps: ClusterDeps): Reconcile {
  return async function reconcile(key, { signal }) {
    const { namespace: workspace = "", name } = refOf(key);
    const house = clusterNamespaceName(workspace, name);
    const cluster = deps.clusters.get(key);
    const namespace = deps.namespaces.get(house);
    if (cluster === undefined) {
      await demolish(house, key, signal);
      return done();
    }
    if (cluster.metadata.deletionTimestamp !== undefined) {
      await emptyCluster(deps, cluster, signal);
      deps.refresh(key);
      return done();
    }
    await ensureFinalizer(deps, cluster, signal);
    if (namespace?.metadata.deletionTimestamp !== undefined) {
      // That of an earlier Cluster of this name. Its end is a change that leads here again.
      return done();
    }
    if (namespace === undefined) await build(cluster, signal);
    else if (isEnrolmentOutdated(namespace, cluster)) await inform(namespace, cluster, signal);
    deps.refresh(key);
    return done();
  };

  async function build(cluster: Cluster, signal: AbortSignal): Promise<void> {
    try {
      deps.namespaces.wrote(
        await deps.rest.create(namespaces, clusterNamespaceFor(cluster), { signal }),
      );
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
      await adopt(cluster, signal);
    }
  }

  /** The namespace exists and our cache does not have it: it is new, or somebody created it without our label. */
  async function adopt(cluster: Cluster, signal: AbortSignal): Promise<void> {
    const { name, labels, annotations } = clusterNamespaceFor(cluster).metadata;
    const existing = await deps.rest.get(namespaces, { name }, { signal });
    if (existing === undefined || existing.metadata.deletionTimestamp !== undefined) return;
    const { uid, resourceVersion } = existing.metadata;
    const isLabelled = existing.metadata.labels?.[managedLabel] === "true";
    const body = { metadata: { uid, resourceVersion, labels, annotations } };
    deps.namespaces.wrote(
      isLabelled
        ? existing
        : await deps.rest.patch(namespaces, { name }, { type: "merge", body }, { signal }),
    );
  }

  async function inform(house: Namespace, cluster: Cluster, signal: AbortSignal): Promise<void> {
    const { name, uid, resourceVersion } = house.metadata;
    const body = { metadata: { uid, resourceVersion, annotations: enrolmentAnnotations(cluster) } };
    const written = await deps.rest.patch(
      namespaces,
      { name },
      { type: "merge", body },
      { signal },
    );
    deps.namespaces.wrote(written);
  }

  /**
   * Asks the API server itself first: with what is in a namespace nothing is deleted on the word of a cache. Its token is
   * told before, so that whoever was killed in between tells it once more.
   */
  async function demolish(house: string, key: ObjectKey, signal: AbortSignal): Promise<void> {
    const namespace = deps.namespaces.get(house);
    if (namespace === undefined || clusterKeyOfNamespace(namespace) !== key) return;
    if ((await deps.rest.get(clusters, refOf(key), { signal })) !== undefined) return;
    const removed = removedClientOf(namespace);
    if (removed !== undefined) await recordRemovedClient(deps, removed, signal);
    await deps.rest.delete(namespaces, namespace.metadata, {
      ...(namespace.metadata.uid !== undefined && { uid: namespace.metadata.uid }),
      signal,
    });
  }
}
