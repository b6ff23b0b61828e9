/**
 * Each Cluster has a namespace of its own on the hub, where its BundleDeployments are. Its name follows from the
 * Cluster's, so no lookup is needed; it is deleted with the Cluster.
 */
import { type Cluster, clusters } from "@flotilla/shared/api";
import { clusterNamespaceName, managedLabel } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import { isAlreadyExists } from "@flotilla/shared/kube/client";
import { done, type Reconcile } from "@flotilla/shared/kube/controller";
import { type Namespace, namespaces, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import {
  clusterKeyOfNamespace,
  clusterNamespaceFor,
  enrolmentAnnotations,
  isEnrolmentOutdated,
  removedClientOf,
} from "../clusterstate/index.ts";
import { type RemovedClientsDeps, recordRemovedClient } from "../registrationtoken/index.ts";
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
    const namespaceName = clusterNamespaceName(workspace, name);
    const cluster = deps.clusters.get(key);
    const namespace = deps.namespaces.get(namespaceName);
    if (cluster === undefined) {
      await removeNamespace(namespaceName, key, signal);
      return done();
    }
    if (cluster.metadata.deletionTimestamp !== undefined) {
      await emptyCluster(deps, cluster, signal);
      deps.refresh(key);
      return done();
    }
    await ensureFinalizer(deps, cluster, signal);
    if (namespace?.metadata.deletionTimestamp !== undefined) {
      // That of an earlier Cluster of this name. Its end enqueues this Cluster again.
      return done();
    }
    if (namespace === undefined) await createNamespace(cluster, signal);
    else if (isEnrolmentOutdated(namespace, cluster)) await annotate(namespace, cluster, signal);
    deps.refresh(key);
    return done();
  };

  async function createNamespace(cluster: Cluster, signal: AbortSignal): Promise<void> {
    try {
      deps.namespaces.wrote(
        await deps.rest.create(namespaces, clusterNamespaceFor(cluster), { signal }),
      );
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
      await adopt(cluster, signal);
    }
  }

  /** The namespace exists and our cache does not have it: it is new, or it was created without our label. */
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

  async function annotate(
    namespace: Namespace,
    cluster: Cluster,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, uid, resourceVersion } = namespace.metadata;
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
   * Reads the API server first: nothing is deleted because of a cache alone. The registration token is written before
   * the deletion, so that a leader that is killed in between writes it again.
   */
  async function removeNamespace(name: string, key: ObjectKey, signal: AbortSignal): Promise<void> {
    const namespace = deps.namespaces.get(name);
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
