/** Clusters that another system manages, by a label as in Fleet. Pure. */
import type { Cluster } from "./cluster.ts";
import { clusterManagementLabel } from "./names/index.ts";

/**
 * Whether a Cluster is left as it is: no namespace or deployment is created, changed or deleted for it, and its agents are
 * rejected. An empty label means nothing, as in Fleet.
 */
export function isManagedElsewhere({ metadata }: Pick<Cluster, "metadata">): boolean {
  return (metadata.labels?.[clusterManagementLabel] ?? "") !== "";
}
