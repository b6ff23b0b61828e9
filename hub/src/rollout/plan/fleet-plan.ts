/** A plan as it is shown: counts, ten names at most of each group, and the texts. Pure. */
import {
  type FleetPlan,
  type FleetPlanGroup,
  maxPlanGroups,
  maxPlanNames,
} from "@flotilla/shared/plan";
import type { AskedPlan } from "./ask-fleet.ts";
import type { PlanGroup } from "./group-plans.ts";

/** `total`: the clusters that it is about; `notAsked`: the ones among them that others stand for. */
export function fleetPlanOf(
  { groups, unchanged, unknown, texts }: AskedPlan,
  { total, notAsked }: { readonly total: number; readonly notAsked: number },
): FleetPlan {
  const others = groups.slice(maxPlanGroups);
  return {
    total,
    groups: groups
      .slice(0, maxPlanGroups)
      .map((group) => shownGroup(group, texts.get(group.sample)?.text)),
    others: {
      groups: others.length,
      clusters: others.reduce((sum, { clusters }) => sum + clusters.length, 0),
    },
    unchanged: shownClusters(unchanged),
    unknown: unknown.map(({ clusters, ...group }) => ({
      ...group,
      clusters: shownClusters(clusters),
    })),
    notAsked,
  };
}

function shownGroup(
  { digests, result, clusters }: PlanGroup,
  text: string | undefined,
): FleetPlanGroup {
  const { result: kind, counts, remarks, hooks, failures, code, message } = result;
  return {
    result: kind === "none" ? "changes" : kind,
    counts,
    clusters: shownClusters(clusters),
    diffs: digests.length,
    remarks: [...remarks],
    hooks,
    failures,
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
    ...(text !== undefined && { text }),
  };
}

function shownClusters(clusters: readonly string[]): FleetPlan["unchanged"] {
  return { count: clusters.length, first: clusters.slice(0, maxPlanNames) };
}
