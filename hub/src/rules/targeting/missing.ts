/**
 * The objects that targets name and that do not exist: mostly a misspelt name, sometimes an object that is created
 * later. Pure.
 */
import { createTimeSlices, type TimeSlices } from "@flotilla/shared/concurrency";
import { listNames } from "@flotilla/shared/text";
import {
  isCalled,
  isGiven,
  isMember,
  type TargetCluster,
  type TargetCriteria,
  type TargetGroup,
  type Targeting,
  targetsFor,
} from "./match.ts";
import { type ClusterLabels, clusterLabels, selectorHints } from "./selector-hints.ts";
import { selectorProblem } from "./selector-problem.ts";

export interface MissingQuery {
  /** The groups that its Clusters may be in. */
  readonly namespaces: readonly string[];
  readonly targeting: Targeting;
  readonly clusters: readonly TargetCluster[];
  readonly groups: readonly TargetGroup[];
  /** Whether any cluster matches: then groups and selectors without members are not reported. */
  readonly matchesAny: boolean;
}

/** More would not be read. */
const mostShown = 3;

/**
 * Sentences for people, the most helpful first. With pauses: there may be thousands of clusters, and as many targets and groups.
 */
export async function missing(
  query: MissingQuery,
  slices: TimeSlices = createTimeSlices(),
): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const hint of hints(query, slices)) {
    found.add(hint);
    if (found.size === mostShown) break;
  }
  return [...found];
}

async function* hints(query: MissingQuery, slices: TimeSlices): AsyncGenerator<string> {
  const { targeting, clusters, matchesAny } = query;
  const targets = targeting.targets ?? [];
  if (targets.length === 0) {
    yield "it has no targets";
    return;
  }
  if (clusters.length === 0 && !matchesAny)
    yield `there are no Clusters in ${placeOf(query)}, and Clusters of other namespaces are no targets`;
  const search: Search = {
    ...query,
    slices,
    labels: clusterLabels(clusters),
    reasons: new Map(),
  };
  for (const target of targets) {
    yield* missingOf(target, search);
    if (slices.isOver) await slices.pause();
  }
  if (await isRestrictedToNone(search))
    yield "spec.targetRestrictions allows none of the clusters that the targets match";
}

interface Search extends MissingQuery {
  readonly slices: TimeSlices;
  readonly labels: ClusterLabels;
  /** By group: why it has no members. */
  readonly reasons: Map<TargetGroup, string | undefined>;
}

async function isRestrictedToNone(search: Search): Promise<boolean> {
  const { targeting, groups, matchesAny, slices } = search;
  if (matchesAny || (targeting.targetRestrictions ?? []).length === 0) return false;
  const { targets } = targeting;
  return await someCluster(search, async (cluster) => {
    const targetOf = await targetsFor(cluster, groups, slices);
    return (await targetOf({ targets })).length > 0;
  });
}

async function someCluster(
  { clusters, slices }: Search,
  is: (cluster: TargetCluster) => boolean | Promise<boolean>,
): Promise<boolean> {
  for (const cluster of clusters) {
    if (await is(cluster)) return true;
    if (slices.isOver) await slices.pause();
  }
  return false;
}

async function* missingOf(target: TargetCriteria, search: Search): AsyncGenerator<string> {
  const { clusters, groups, matchesAny, labels } = search;
  const { clusterName, clusterSelector, clusterGroup, clusterGroupSelector } = target;
  if (![clusterName, clusterSelector, clusterGroup, clusterGroupSelector].some(isGiven)) {
    yield "a target without criteria matches nothing: {clusterSelector: {}} means every cluster";
    return;
  }
  if (isGiven(clusterSelector) && !matchesAny) yield* selectorHints(clusterSelector, labels);
  if (
    isGiven(clusterName) &&
    clusters.length > 0 &&
    !clusters.some((cluster) => isCalled(cluster, clusterName))
  )
    yield `there is no Cluster ${clusterName} in ${placeOf(search)}`;
  if (isGiven(clusterGroup)) {
    const named = groups.filter(({ name }) => name === clusterGroup);
    const reasons: (string | undefined)[] = [];
    for (const group of named) reasons.push(await whyWithoutMembers(group, search));
    const [why = `there is no ClusterGroup ${clusterGroup} in ${placeOf(search)}`] = reasons;
    // Each namespace may have one; the targets mean all of them.
    if (named.length === 0 || !reasons.includes(undefined)) yield why;
  }
}

function placeOf({ namespaces }: MissingQuery): string {
  const noun = namespaces.length === 1 ? "the namespace" : "the namespaces";
  return `${noun} ${listNames(namespaces)}`;
}

async function whyWithoutMembers(group: TargetGroup, search: Search): Promise<string | undefined> {
  const { reasons } = search;
  if (!reasons.has(group)) reasons.set(group, await memberProblem(group, search));
  return reasons.get(group);
}

async function memberProblem(group: TargetGroup, search: Search): Promise<string | undefined> {
  if (group.selector === undefined)
    return `ClusterGroup ${group.name} has no selector, so no cluster belongs to it`;
  const problem = selectorProblem(group.selector);
  if (problem !== undefined)
    return `the selector of ClusterGroup ${group.name} cannot be used: ${problem}`;
  if (search.matchesAny || search.clusters.length === 0) return undefined;
  return (await someCluster(search, (cluster) => isMember(cluster, group)))
    ? undefined
    : `no cluster belongs to ClusterGroup ${group.name}`;
}
