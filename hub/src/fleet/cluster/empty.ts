/** Clusters that are emptied before they are removed: the finalizer, and what happens while they are being deleted. */
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  clusters,
} from "@flotilla/shared/api";
import { clusterFinalizer } from "@flotilla/shared/api/names";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  addFinalizer,
  type FinalizerOptions,
  removeFinalizer,
} from "@flotilla/shared/kube/controller";
import {
  clusterNamespaceOf,
  isBeingEmptied,
  isForCluster,
  isToBeEmptied,
} from "../../base/index.ts";

export interface EmptyDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly deployments: Store<BundleDeployment>;
}

/** Only a Cluster with deletion policy Uninstall has the finalizer. */
export async function ensureFinalizer(
  deps: EmptyDeps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const options = finalizerOptions(deps, signal);
  if (isToBeEmptied(cluster)) await addFinalizer(options, cluster);
  else await removeFinalizer(options, cluster);
}

/**
 * Deletes the deployments, each of which stays until its agent has uninstalled it, then removes the finalizer. Without
 * `deletionPolicy: Uninstall` the finalizer is removed at once.
 */
export async function emptyCluster(
  deps: EmptyDeps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  if (isBeingEmptied(cluster)) {
    const { uid } = cluster.metadata;
    const clusterNamespace = clusterNamespaceOf(cluster);
    const remaining = deps.deployments
      .byIndex(byNamespace, clusterNamespace)
      .filter((deployment) => isForCluster(deployment, uid));
    await Promise.all(remaining.map((deployment) => withdraw(deps.rest, deployment, signal)));
    if (remaining.length > 0 || (await hasDeployments(deps.rest, clusterNamespace, signal))) return;
  }
  await removeFinalizer(finalizerOptions(deps, signal), cluster);
}

async function withdraw(
  rest: KubeRest,
  { metadata }: BundleDeployment,
  signal: AbortSignal,
): Promise<void> {
  if (metadata.deletionTimestamp !== undefined) return;
  const { uid } = metadata;
  await rest.delete(bundleDeployments, metadata, { signal, ...(uid !== undefined && { uid }) });
}

/** Lists from the API server: with a stale cache a Cluster would be removed that is not empty. */
async function hasDeployments(
  rest: KubeRest,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { items } = await rest.list(bundleDeployments, { namespace, limit: 1, signal });
  return items.length > 0;
}

function finalizerOptions(
  { rest, clusters: store }: EmptyDeps,
  signal: AbortSignal,
): FinalizerOptions<Cluster> {
  return { rest, resource: clusters, store, finalizer: clusterFinalizer, signal };
}
