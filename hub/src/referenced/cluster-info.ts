/** The cluster info that an agent gets: what its Cluster is, for templates. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterFacts } from "@flotilla/shared/supply/cluster-facts.ts";

/** A copy of the whole object. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

export function clusterInfoOf({ metadata, spec }: Cluster): ClusterFacts {
  const { [lastApplied]: _, ...annotations } = metadata.annotations ?? {};
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    labels: metadata.labels ?? {},
    annotations,
    templateValues: spec.templateValues ?? {},
  };
}

/** Whether a change of a Cluster changes its cluster info; a change of its status never does. */
export function isClusterInfoChange(
  before: Cluster | undefined,
  after: Cluster | undefined,
): boolean {
  if (after === undefined) return false;
  return before === undefined || !isDeepStrictEqual(clusterInfoOf(before), clusterInfoOf(after));
}
