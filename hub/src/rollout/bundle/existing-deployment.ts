/** Which BundleDeployment of a Bundle is the one of a placement. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { clusterKeyOf, clusterNamespaceNames, isForCluster } from "../../base/index.ts";
import type { Placement } from "./place.ts";

export type DeploymentsByNamespace = ReadonlyMap<string | undefined, BundleDeployment>;

/** `existing`: of one Bundle, which has at most one in each namespace. */
export function deploymentsByNamespace(
  existing: readonly BundleDeployment[],
): Map<string | undefined, BundleDeployment> {
  return new Map(existing.map((deployment) => [deployment.metadata.namespace, deployment]));
}

/** A Cluster without a status, which was restored from a backup, may have its deployments under any of its names. */
export function existingFor(
  { cluster, namespace }: Placement,
  byNamespace: DeploymentsByNamespace,
): BundleDeployment | undefined {
  const current = byNamespace.get(namespace);
  if (current !== undefined || cluster.status?.namespace !== undefined) return current;
  const { namespace: workspace = "", name } = cluster.metadata;
  return clusterNamespaceNames(workspace, name)
    .map((each) => byNamespace.get(each))
    .find((each) => each !== undefined && clusterKeyOf(each) === keyOf(cluster));
}

/** Whether it is deployed to an earlier Cluster of the same name, or is being deleted: the placement waits until it is gone. */
export function isOutlived(deployment: BundleDeployment, { cluster }: Placement): boolean {
  return (
    deployment.metadata.deletionTimestamp !== undefined ||
    !isForCluster(deployment, cluster.metadata.uid)
  );
}
