/** What Policies require before the clusters of a Bundle: whether it may be deployed as it is, and which clusters need an approval. */
import type { Bundle, Cluster, ClusterGroup } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import {
  assignStages,
  isProtected,
  type MergedPolicy,
  type RequiredGateViolation,
  requiredGateViolation,
  requiresGates,
  stagesOf,
  toTargetCluster,
  toTargetGroup,
} from "../../rules/index.ts";
import type { Placement } from "./place.ts";

export interface RequiredApprovals {
  /** Why the strategy is not accepted; undefined: it is. */
  readonly violation: RequiredGateViolation | undefined;
  /** Whether the cluster gets nothing that nobody approved for its stage. */
  readonly needsApproval: (cluster: Cluster) => boolean;
}

const none: RequiredApprovals = { violation: undefined, needsApproval: () => false };

/** The Policies of each of these namespaces. */
export type PoliciesIn = (namespaces: ReadonlySet<string>) => readonly MergedPolicy[];

/** It only reads. Costs little where no Policy of the Bundle's namespace, or of its clusters', requires a gate. */
export function requiredApprovals(
  { metadata: { namespace = "" }, spec }: Bundle,
  placements: readonly Pick<Placement, "cluster">[],
  groups: readonly ClusterGroup[],
  policiesIn: PoliciesIn,
): RequiredApprovals {
  const ofClusters = placements.map(({ cluster }) => cluster.metadata.namespace ?? "");
  const policies = policiesIn(new Set([namespace, ...ofClusters]));
  if (!requiresGates(policies)) return none;
  const { rolloutStrategy: strategy } = spec;
  const clusters = placements.map(({ cluster }) => ({
    ...toTargetCluster(cluster),
    key: keyOf(cluster),
  }));
  const stages = stagesOf(strategy ?? {});
  return {
    violation: requiredGateViolation(policies, {
      strategy,
      clusters,
      assignment: assignStages(stages, clusters, groups.map(toTargetGroup)),
      namespace,
    }),
    needsApproval: (cluster) =>
      isProtected(policies, { ...toTargetCluster(cluster), key: keyOf(cluster) }, namespace),
  };
}
