/** What a Cluster says is to become of what it has installed when it is deleted. Pure. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusterFinalizer } from "@flotilla/shared/api/names.ts";

/** Whether it is to be emptied before it goes. */
export function isToBeEmptied({ spec }: Cluster): boolean {
  return spec.deletionPolicy === "Uninstall";
}

/**
 * Whether it is being deleted and stays until its agent has uninstalled everything. Without the finalizer it may be gone at
 * any moment, and what happens to its deployments is only that they go with it.
 */
export function isBeingEmptied(cluster: Cluster): boolean {
  const { deletionTimestamp, finalizers = [] } = cluster.metadata;
  return (
    deletionTimestamp !== undefined &&
    finalizers.includes(clusterFinalizer) &&
    isToBeEmptied(cluster)
  );
}

/**
 * Whether a deployment of the Cluster that is being deleted is one to uninstall. `cluster` has to be as the API server has it
 * after the deployment was seen to go, not as a cache has it: what goes with its Cluster is never uninstalled, and of a
 * Cluster that is gone, or goes and leaves everything, that is what happens to all deployments.
 */
export function mayWithdraw(cluster: Cluster | undefined, uid: string): boolean {
  if (cluster?.metadata.uid !== uid) return false;
  return cluster.metadata.deletionTimestamp === undefined || isBeingEmptied(cluster);
}
