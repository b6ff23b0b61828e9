/** What a Cluster is, as far as its agent is told. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterInfo } from "@flotilla/shared/referenced/cluster-info.ts";

/** Holds everything else once more. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

export function factsOf({ metadata, spec }: Cluster): ClusterInfo {
  const { [lastApplied]: _, ...annotations } = metadata.annotations ?? {};
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    labels: metadata.labels ?? {},
    annotations,
    templateValues: spec.templateValues ?? {},
  };
}

/** Whether a change of a Cluster is one that its agent is to know; its status never is. */
export function isFactsChange(before: Cluster | undefined, after: Cluster | undefined): boolean {
  if (after === undefined) return false;
  return before === undefined || !isDeepStrictEqual(factsOf(before), factsOf(after));
}
