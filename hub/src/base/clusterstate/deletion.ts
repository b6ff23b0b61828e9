/** What happens to the deployments of a Cluster that is deleted, by its `deletionPolicy`. Pure. */
import { type Cluster, isManagedElsewhere } from "@flotilla/shared/api";
import { clusterFinalizer } from "@flotilla/shared/api/names";

/** Whether its deployments are uninstalled before it is removed: never the deployments of a Cluster that another system manages. */
export function isToBeEmptied(cluster: Cluster): boolean {
  return cluster.spec.deletionPolicy === "Uninstall" && !isManagedElsewhere(cluster);
}

/**
 * Whether it is being deleted and stays until its agent has uninstalled everything. Without the finalizer it may be
 * removed at any moment, and its deployments are removed with its namespace.
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
 * Whether a deployment of a Cluster that is being deleted has to be uninstalled. `cluster` must be read from the API
 * server after the deletion of the deployment was seen, not from a cache: a deployment that is removed together with
 * its Cluster is never uninstalled.
 */
export function mayWithdraw(cluster: Cluster | undefined, uid: string): boolean {
  if (cluster?.metadata.uid !== uid || isManagedElsewhere(cluster)) return false;
  return cluster.metadata.deletionTimestamp === undefined || isBeingEmptied(cluster);
}
