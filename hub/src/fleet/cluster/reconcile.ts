/**
 * Each Cluster has a namespace of its own on the hub, where its BundleDeployments are. Its name follows from the
 * Cluster's; it is never taken over from another one. It is deleted with the Cluster, but only one that the hub has created, and only
 * when nothing of others is in it.
 */
import { type Cluster, clusters, isManagedElsewhere } from "@flotilla/shared/api";
import { managedLabel } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import { isAlreadyExists } from "@flotilla/shared/kube/client";
import { done, type Reconcile, type Result, requeueAfter } from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import {
  keyOf,
  type Namespace,
  namespaces,
  type ObjectKey,
  refOf,
} from "@flotilla/shared/kube/objects";
import {
  chooseNamespace,
  clusterKeyOfNamespace,
  clusterNamespaceFor,
  clusterNamespaceKeys,
  clusterNamespaceNames,
  enrolmentAnnotations,
  isCreatedByHub,
  isEnrolmentOutdated,
  removedClientOf,
  type TakenNamespace,
} from "../../base/index.ts";
import { type RemovedClientsDeps, recordRemovedClient } from "../../link/index.ts";
import { type EmptyDeps, emptyCluster, ensureFinalizer } from "./empty.ts";
import {
  recordKeptNamespace,
  recordLeftAlone,
  recordLeftNamespace,
  recordTakenNamespace,
} from "./events.ts";
import { foreignObjectsIn } from "./foreign-objects.ts";

export interface ClusterDeps extends EmptyDeps, RemovedClientsDeps {
  /** The managed namespaces only. */
  readonly namespaces: Store<Namespace>;
  /** Rolls up the status of a Cluster. */
  readonly refresh: (key: ObjectKey) => void;
  readonly events: EventRecorder;
}

/** Until a namespace that has objects of others is looked at again. */
const keptRetryMs = 60_000;

/** Until a Cluster whose namespace is another one's is reconciled again: nothing enqueues it when that one is gone. */
const takenRetryMs = 60_000;

export function clusterReconciler(deps: ClusterDeps): Reconcile {
  return async function reconcile(key, { signal }) {
    const { namespace: workspace = "", name } = refOf(key);
    const cluster = deps.clusters.get(key);
    if (cluster === undefined) {
      let result: Result = done();
      for (const each of clusterNamespaceNames(workspace, name))
        result = (await removeNamespace(each, key, signal)) ?? result;
      return result;
    }
    if (cluster.metadata.deletionTimestamp !== undefined) {
      await emptyCluster(deps, cluster, signal);
      deps.refresh(key);
      return done();
    }
    if (isManagedElsewhere(cluster)) {
      deps.refresh(key);
      return done();
    }
    await ensureFinalizer(deps, cluster, signal);
    await removeEmptyCustomization(deps.clusters.get(key) ?? cluster, signal);
    return ensureNamespace(cluster, signal);
  };

  /** As Fleet does: pages that show a Cluster take an empty object for one that somebody has set. */
  async function removeEmptyCustomization(cluster: Cluster, signal: AbortSignal): Promise<void> {
    const { agentSchedulingCustomization: customization } = cluster.spec;
    if (!customization || Object.keys(customization).length > 0) return;
    const { resourceVersion } = cluster.metadata;
    // With the version that was read: somebody may be setting it.
    const body = { metadata: { resourceVersion }, spec: { agentSchedulingCustomization: null } };
    const patch = { type: "merge", body } as const;
    const written = await deps.rest.patch(clusters, refOf(keyOf(cluster)), patch, { signal });
    deps.clusters.wrote(written);
  }

  async function ensureNamespace(cluster: Cluster, signal: AbortSignal): Promise<Result> {
    const key = keyOf(cluster);
    const choice = chooseNamespace(cluster, deps.namespaces.get);
    if (choice.kind === "taken") return taken(cluster, choice);
    if (choice.left !== undefined) recordLeftNamespace(deps, cluster, choice.name, choice.left);
    const namespace = deps.namespaces.get(choice.name);
    if (namespace?.metadata.deletionTimestamp !== undefined) {
      // It belongs to an earlier Cluster of this name. Its end enqueues this Cluster again.
      return done();
    }
    if (namespace === undefined) {
      const owner = await createNamespace(cluster, choice.name, signal);
      if (owner !== undefined && owner !== key) return taken(cluster, { name: choice.name, owner });
    } else if (isEnrolmentOutdated(namespace, cluster)) await annotate(namespace, cluster, signal);
    deps.refresh(key);
    return done();
  }

  function taken(cluster: Cluster, namespace: TakenNamespace): Result {
    recordTakenNamespace(deps, cluster, namespace);
    deps.refresh(keyOf(cluster));
    return requeueAfter(takenRetryMs, "its namespace belongs to another Cluster");
  }

  /** The Cluster that the namespace belongs to, if it exists already. */
  async function createNamespace(
    cluster: Cluster,
    name: string,
    signal: AbortSignal,
  ): Promise<ObjectKey | undefined> {
    try {
      const desired = clusterNamespaceFor(cluster, name);
      deps.namespaces.wrote(await deps.rest.create(namespaces, desired, { signal }));
      return undefined;
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
      return adopt(cluster, name, signal);
    }
  }

  /** The namespace exists and our cache does not have it: it is new, or it was created without our label. */
  async function adopt(
    cluster: Cluster,
    name: string,
    signal: AbortSignal,
  ): Promise<ObjectKey | undefined> {
    const { labels, annotations } = clusterNamespaceFor(cluster, name).metadata;
    const existing = await deps.rest.get(namespaces, { name }, { signal });
    if (existing === undefined || existing.metadata.deletionTimestamp !== undefined)
      return undefined;
    const { uid, resourceVersion } = existing.metadata;
    const isLabelled = existing.metadata.labels?.[managedLabel] === "true";
    const owner = clusterKeyOfNamespace(existing);
    if (isLabelled) deps.namespaces.wrote(existing);
    if (isLabelled || (owner !== undefined && owner !== keyOf(cluster))) return owner;
    const body = { metadata: { uid, resourceVersion, labels, annotations } };
    deps.namespaces.wrote(
      await deps.rest.patch(namespaces, { name }, { type: "merge", body }, { signal }),
    );
    return undefined;
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
   * the deletion, so that a leader that is killed in between writes it again. Returns what is left to do, if something is.
   */
  async function removeNamespace(
    name: string,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<Result | undefined> {
    const known = deps.namespaces.get(name);
    if (known === undefined || clusterKeyOfNamespace(known) !== key) return undefined;
    if ((await deps.rest.get(clusters, refOf(key), { signal })) !== undefined) return undefined;
    const removed = removedClientOf(known);
    if (removed !== undefined) await recordRemovedClient(deps, removed, signal);
    // The cache has no managedFields.
    const namespace = await deps.rest.get(namespaces, { name }, { signal });
    if (namespace === undefined || namespace.metadata.uid !== known.metadata.uid) return undefined;
    if (!isCreatedByHub(namespace)) {
      await leave(namespace, signal);
      return undefined;
    }
    const foreign = await foreignObjectsIn(deps.rest, name, signal);
    if (foreign.length > 0) {
      recordKeptNamespace(deps, namespace, foreign);
      return requeueAfter(keptRetryMs, "objects of others are in the namespace");
    }
    const { uid } = namespace.metadata;
    await deps.rest.delete(namespaces, namespace.metadata, {
      ...(uid !== undefined && { uid }),
      signal,
    });
    return undefined;
  }

  /** A namespace that existed before the Cluster is as it was. */
  async function leave(namespace: Namespace, signal: AbortSignal): Promise<void> {
    const { name, uid, resourceVersion, annotations = {} } = namespace.metadata;
    const own = clusterNamespaceKeys(annotations);
    const body = {
      metadata: {
        uid,
        resourceVersion,
        labels: { [managedLabel]: null },
        annotations: Object.fromEntries(own.map((key) => [key, null])),
      },
    };
    await deps.rest.patch(namespaces, { name }, { type: "merge", body }, { signal });
    recordLeftAlone(deps, namespace);
  }
}
