/** A Cluster that is to be emptied before it goes: the finalizer that holds it, and what happens while it is being deleted. */
import { isDeepStrictEqual } from "node:util";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusterFinalizer, clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { bundleDeployments, clusters } from "@flotilla/shared/api/resources.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isForCluster } from "../cache/keys.ts";
import { isBeingEmptied, isToBeEmptied } from "../clusterstate/deletion.ts";

export interface EmptyDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly deployments: Store<BundleDeployment>;
}

/** A Cluster that leaves what it has installed has none, and costs no write. */
export async function ensureFinalizer(
  deps: EmptyDeps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const others = (cluster.metadata.finalizers ?? []).filter((name) => name !== clusterFinalizer);
  const isWanted = isToBeEmptied(cluster);
  await setFinalizers(deps, cluster, isWanted ? [...others, clusterFinalizer] : others, signal);
}

/**
 * Its deployments go first, each of which stays until the agent has uninstalled it; then the Cluster. One that came to
 * leave everything after all goes at once.
 */
export async function emptyCluster(
  deps: EmptyDeps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  if (isBeingEmptied(cluster)) {
    const { namespace: workspace = "", name, uid } = cluster.metadata;
    const house = clusterNamespaceName(workspace, name);
    const remaining = deps.deployments
      .byIndex(byNamespace, house)
      .filter((deployment) => isForCluster(deployment, uid));
    await Promise.all(remaining.map((deployment) => withdraw(deps.rest, deployment, signal)));
    if (remaining.length > 0 || (await hasDeployments(deps.rest, house, signal))) return;
  }
  const others = (cluster.metadata.finalizers ?? []).filter((one) => one !== clusterFinalizer);
  await setFinalizers(deps, cluster, others, signal);
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

/** Of the API server itself: a cache that is behind must not let a Cluster go that is not empty. */
async function hasDeployments(
  rest: KubeRest,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { items } = await rest.list(bundleDeployments, { namespace, limit: 1, signal });
  return items.length > 0;
}

/** A patch, because other people write Clusters too; with the version, so that none of their finalizers gets lost. */
async function setFinalizers(
  { rest, clusters: store }: EmptyDeps,
  { metadata }: Cluster,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (isDeepStrictEqual([...finalizers].toSorted(), (metadata.finalizers ?? []).toSorted())) return;
  const body = { metadata: { resourceVersion: metadata.resourceVersion, finalizers } };
  store.wrote(await rest.patch(clusters, metadata, { type: "merge", body }, { signal }));
}
