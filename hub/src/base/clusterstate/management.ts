/** The message about a Cluster that another system manages. Pure. */
import type { Cluster } from "@flotilla/shared/api";
import { clusterManagementLabel } from "@flotilla/shared/api/names";

/** Why nothing happens for a Cluster, and what to do. */
export function managedElsewhereText({ metadata }: Pick<Cluster, "metadata">): string {
  const value = metadata.labels?.[clusterManagementLabel] ?? "";
  return `another system manages Cluster ${metadata.name} (label ${clusterManagementLabel}: ${value}); the hub creates, changes and deletes nothing for it and rejects its agents; what was installed keeps running; remove the label to have the hub manage it`;
}
