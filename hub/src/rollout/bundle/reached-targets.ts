/** The clusters that a Bundle is deployed to, with what each gets, and what Policies require before them. */
import type { Bundle, Cluster, ClusterGroup } from "@flotilla/shared/api";
import type { AppError } from "@flotilla/shared/errors";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import {
  isStaged,
  type Mappings,
  type PolicyDeps,
  type Reach,
  reachOf,
} from "../../rules/index.ts";
import type { ReadValues } from "./hub-values.ts";
import { type ContentPacker, matchTargets, type TargetMatches } from "./place.ts";
import { type PoliciesIn, type RequiredApprovals, requiredApprovals } from "./required-gates.ts";

export interface ReachedTargetsDeps {
  readonly clusters: Pick<Store<Cluster>, "byIndex">;
  readonly groups: Pick<Store<ClusterGroup>, "byIndex">;
  readonly packer: ContentPacker;
  readonly mappings: Mappings;
  /** Policies of the namespaces that a Bundle is deployed to by mappings. */
  readonly policy: PolicyDeps;
  readonly policiesIn: PoliciesIn;
}

export interface ReachedTargets extends TargetMatches {
  readonly reach: Reach;
  readonly groups: readonly ClusterGroup[];
  /** As for `ContentPacker.pack`. */
  readonly isForeign: boolean;
  readonly approvals: RequiredApprovals;
}

/**
 * A gate that Policies of another namespace require, and that the strategy lacks, keeps the Bundle off the Clusters of that namespace
 * alone: who writes Policies there stops no deployments of others.
 */
export async function reachedTargets(
  deps: ReachedTargetsDeps,
  bundle: Bundle,
  values: ReadValues | undefined,
): Promise<ReachedTargets> {
  const refused = new Map<string, AppError>();
  // Each round leaves out one more namespace.
  for (;;) {
    const reach = reachOf(deps, bundle, refused);
    const [, ...others] = reach.namespaces;
    const groups = reach.namespaces.flatMap((each) => deps.groups.byIndex(byNamespace, each));
    const isForeign = reach.isMapped && isStaged(bundle.spec.rolloutStrategy);
    const matches = await matchTargets(
      bundle,
      reach.namespaces.flatMap((each) => deps.clusters.byIndex(byNamespace, each)),
      groups,
      deps.packer,
      { isForeign, values },
    );
    const approvals = requiredApprovals(bundle, matches.placements, groups, deps.policiesIn);
    const { violation } = approvals;
    if (violation === undefined || !others.includes(violation.namespace))
      return { ...matches, reach, groups, isForeign, approvals };
    refused.set(violation.namespace, violation.error);
  }
}
