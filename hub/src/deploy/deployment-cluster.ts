/** The Cluster that a BundleDeployment is for. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import {
  clusterLabel,
  clusterNamespaceLabel,
  clusterUidLabel,
} from "@flotilla/shared/api/names.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";

export function clusterKeyOf(deployment: BundleDeployment): ObjectKey {
  const labels = deployment.metadata.labels ?? {};
  return keyOf({
    namespace: labels[clusterNamespaceLabel] ?? "",
    name: labels[clusterLabel] ?? "",
  });
}

/**
 * Whether it was made for the Cluster of this UID, and not for an earlier one of the same name: what becomes of that one's,
 * whose namespace is being deleted with it, must mean nothing to the agent of this one. One that does not say is taken for it.
 */
export function isForCluster(deployment: BundleDeployment, uid: string | undefined): boolean {
  const label = deployment.metadata.labels?.[clusterUidLabel];
  return label === undefined || uid === undefined || label === uid;
}
