/** How the objects of the hub refer to each other: by labels and names. Pure. */
import type { Bundle, BundleDeployment } from "@flotilla/shared/api";
import {
  bundleNameLabel,
  bundleNamespaceLabel,
  clusterLabel,
  clusterNamespaceLabel,
  clusterUidLabel,
  createdByUserLabel,
} from "@flotilla/shared/api/names";
import { type KubeObject, keyOf, type ObjectKey, type Secret } from "@flotilla/shared/kube/objects";

/** On each Secret that stores a part of a content. */
export const contentLabel = "flotilla.dev/content";

/** The key of the Cluster that a BundleDeployment is for. */
export function clusterKeyOf(deployment: BundleDeployment): ObjectKey {
  const labels = deployment.metadata.labels ?? {};
  return keyOf({
    namespace: labels[clusterNamespaceLabel] ?? "",
    name: labels[clusterLabel] ?? "",
  });
}

/** The key of the Bundle that a BundleDeployment was made for. */
export function bundleKeyOf(deployment: BundleDeployment): ObjectKey {
  const labels = deployment.metadata.labels ?? {};
  return keyOf({
    namespace: labels[bundleNamespaceLabel] ?? "",
    name: labels[bundleNameLabel] ?? "",
  });
}

/**
 * Whether a BundleDeployment was made for the Cluster with this UID, and not for an earlier Cluster of the same name, whose
 * namespace is being deleted. Without a UID on either side it is taken to be for this Cluster.
 */
export function isForCluster(deployment: BundleDeployment, uid: string | undefined): boolean {
  const label = deployment.metadata.labels?.[clusterUidLabel];
  return label === undefined || uid === undefined || label === uid;
}

/** The namespace of the Clusters that a Bundle may be deployed to. */
export function targetedNamespace({ metadata, spec }: Bundle): string {
  return spec.helmOpOptions?.origin?.clusterNamespace ?? metadata.namespace ?? "";
}

/** The digest of the content that a Secret stores a part of; undefined for any other Secret. */
export function contentDigestOf(secret: Secret): string | undefined {
  const match = /^content-([0-9a-f]{64})(?:-\d+)?$/.exec(secret.metadata.name);
  return match === null ? undefined : `sha256:${match[1]}`;
}

/** Log field with the Rancher user who created the object, under the name that Fleet's log has for it. */
export function userFields(object: KubeObject | undefined): Readonly<Record<string, string>> {
  const userID = object?.metadata.labels?.[createdByUserLabel] ?? "";
  return userID === "" ? {} : { userID };
}
