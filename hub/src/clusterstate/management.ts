/** Clusters that another system manages, by a label as in Fleet. Pure. */
import type { Cluster } from "@flotilla/shared/api";
import { clusterManagementLabel } from "@flotilla/shared/api/names";

/**
 * Whether the hub leaves a Cluster as it is: no namespace or deployment is created, changed or deleted for it, and its
 * agents are rejected. An empty label means nothing, as in Fleet.
 */
export function isManagedElsewhere({ metadata }: Pick<Cluster, "metadata">): boolean {
  return (metadata.labels?.[clusterManagementLabel] ?? "") !== "";
}

/** Why nothing happens for a Cluster, and what to do. */
export function managedElsewhereText({ metadata }: Pick<Cluster, "metadata">): string {
  const value = metadata.labels?.[clusterManagementLabel] ?? "";
  return `another system manages Cluster ${metadata.name} (label ${clusterManagementLabel}: ${value}); the hub creates, changes and deletes nothing for it and rejects its agents; what was installed keeps running; remove the label to have the hub manage it`;
}
