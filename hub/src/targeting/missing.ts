/**
 * The objects that targets name and that do not exist: mostly a misspelt name, sometimes an object that is created
 * later. Pure.
 */
import {
  isCalled,
  isGiven,
  isMember,
  type TargetCluster,
  type TargetCriteria,
  type TargetGroup,
  type Targeting,
  targetFor,
} from "./match.ts";
import { selectorHints } from "./selector-hints.ts";
import { selectorProblem } from "./selector-problem.ts";

export interface MissingQuery {
  readonly namespace: string;
  readonly targeting: Targeting;
  readonly clusters: readonly TargetCluster[];
  readonly groups: readonly TargetGroup[];
  /** Whether any cluster matches: then groups and selectors without members are not reported. */
  readonly matchesAny: boolean;
}

/** More would not be read. */
const mostShown = 3;

/** Sentences for people, the most helpful first. */
export function missing(query: MissingQuery): readonly string[] {
  const { namespace, targeting, clusters, matchesAny } = query;
  const targets = targeting.targets ?? [];
  if (targets.length === 0) return ["it has no targets"];
  const found = [
    ...targets.flatMap((target) => missingOf(target, query)),
    ...(isRestrictedToNone(query)
      ? ["spec.targetRestrictions allows none of the clusters that the targets match"]
      : []),
  ];
  const all =
    clusters.length === 0 && !matchesAny
      ? [
          `there are no Clusters in the namespace ${namespace}, and Clusters of other namespaces are no targets`,
          ...found,
        ]
      : found;
  return [...new Set(all)].slice(0, mostShown);
}

function isRestrictedToNone({ targeting, clusters, groups, matchesAny }: MissingQuery): boolean {
  if (matchesAny || (targeting.targetRestrictions ?? []).length === 0) return false;
  const { targets } = targeting;
  return clusters.some((cluster) => targetFor(cluster, { targets }, groups) !== undefined);
}

function missingOf(target: TargetCriteria, query: MissingQuery): readonly string[] {
  const { namespace, clusters, groups, matchesAny } = query;
  const { clusterName, clusterSelector, clusterGroup, clusterGroupSelector } = target;
  if (![clusterName, clusterSelector, clusterGroup, clusterGroupSelector].some(isGiven)) {
    return ["a target without criteria matches nothing: {clusterSelector: {}} means every cluster"];
  }
  const hints: string[] = [];
  if (isGiven(clusterSelector) && !matchesAny)
    hints.push(...selectorHints(clusterSelector, clusters));
  if (
    isGiven(clusterName) &&
    clusters.length > 0 &&
    !clusters.some((cluster) => isCalled(cluster, clusterName))
  )
    hints.push(`there is no Cluster ${clusterName} in the namespace ${namespace}`);
  if (isGiven(clusterGroup)) {
    const group = groups.find(({ name }) => name === clusterGroup);
    const why =
      group === undefined
        ? `there is no ClusterGroup ${clusterGroup} in the namespace ${namespace}`
        : whyWithoutMembers(group, clusters, matchesAny);
    if (why !== undefined) hints.push(why);
  }
  return hints;
}

function whyWithoutMembers(
  group: TargetGroup,
  clusters: readonly TargetCluster[],
  matchesAny: boolean,
): string | undefined {
  if (group.selector === undefined)
    return `ClusterGroup ${group.name} has no selector, so no cluster belongs to it`;
  const problem = selectorProblem(group.selector);
  if (problem !== undefined)
    return `the selector of ClusterGroup ${group.name} cannot be used: ${problem}`;
  if (matchesAny || clusters.length === 0) return undefined;
  return clusters.some((cluster) => isMember(cluster, group))
    ? undefined
    : `no cluster belongs to ClusterGroup ${group.name}`;
}
