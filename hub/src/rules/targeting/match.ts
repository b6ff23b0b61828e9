/**
 * Which clusters a Bundle is deployed to, and by which of its targets. Pure; the rules are Fleet's (first match wins).
 */
import { type Cluster, type ClusterGroup, type LabelSelector, selects } from "@flotilla/shared/api";
import type { TimeSlices } from "@flotilla/shared/concurrency";

/** The criteria for a cluster; all given ones must match. No criteria match nothing. */
export interface TargetCriteria {
  readonly clusterName?: string | null | undefined;
  readonly clusterSelector?: LabelSelector | null | undefined;
  readonly clusterGroup?: string | null | undefined;
  readonly clusterGroupSelector?: LabelSelector | null | undefined;
  /** A match means: not here. */
  readonly doNotDeploy?: boolean | undefined;
}

/** A cluster as targets see it. */
export interface TargetCluster {
  /** Absent: the groups' own. */
  readonly namespace?: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A group has members in its own namespace only. */
export interface TargetGroup {
  /** Absent: the clusters' own. */
  readonly namespace?: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: LabelSelector | undefined;
}

export function toTargetCluster({ metadata }: Cluster): TargetCluster {
  const { namespace, name, labels = {} } = metadata;
  return { ...(namespace !== undefined && { namespace }), name, labels };
}

export function toTargetGroup({ metadata, spec }: ClusterGroup): TargetGroup {
  const { namespace, name, labels = {} } = metadata;
  return {
    ...(namespace !== undefined && { namespace }),
    name,
    labels,
    selector: spec.selector ?? undefined,
  };
}

/** Rancher's name for a cluster; a target's clusterName may use it. */
const displayNameLabel = "management.cattle.io/cluster-display-name";

/** The targets of a Bundle, and what limits the clusters that they reach. */
export interface Targeting<T extends TargetCriteria = TargetCriteria> {
  readonly targets?: readonly T[] | null | undefined;
  /** An allow list: absent and empty allow every cluster. */
  readonly targetRestrictions?: readonly TargetCriteria[] | null | undefined;
  /** Where it is set, the targets before the last ones, of which there are as many as restrictions, are customizations. */
  readonly targetCustomizationMode?: "FirstMatch" | "AllMatches" | undefined;
}

/**
 * The targets whose options a cluster gets, in the order in which they are merged: the first target that matches it, and with
 * `AllMatches` the customizations that do. None: it gets nothing (no match, `doNotDeploy`, or not allowed by the restrictions).
 */
export function targetsOf<T extends TargetCriteria>(
  cluster: TargetCluster,
  targeting: Targeting<T>,
  groups: readonly TargetGroup[],
): readonly T[] {
  return atOnce(choiceSteps(cluster, targeting, groups));
}

/**
 * `targetsOf` of each cluster, with pauses. Waiting once for each of ten thousand clusters would take as long as comparing them, so
 * it waits for pauses alone.
 */
export async function targetsOfEach<T extends TargetCriteria>(
  clusters: readonly TargetCluster[],
  targeting: Targeting<T>,
  groups: readonly TargetGroup[],
  slices: TimeSlices,
): Promise<readonly (readonly T[])[]> {
  const found: (readonly T[])[] = [];
  for (const cluster of clusters) {
    const steps = choiceSteps(cluster, targeting, groups);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) if (slices.isOver) await slices.pause();
    found.push(step.value);
    if (slices.isOver) await slices.pause();
  }
  return found;
}

function* choiceSteps<T extends TargetCriteria>(
  cluster: TargetCluster,
  targeting: Targeting<T>,
  groups: readonly TargetGroup[],
): Steps<readonly T[]> {
  return yield* targetSteps(cluster, targeting, yield* membershipSteps(cluster, groups));
}

/**
 * The same for the targets of many Bundles, with pauses: the groups of the cluster are found once, and a thousand targets may
 * select among thousands of groups.
 */
export async function targetsFor(
  cluster: TargetCluster,
  groups: readonly TargetGroup[],
  slices: TimeSlices,
): Promise<<T extends TargetCriteria>(targeting: Targeting<T>) => Promise<readonly T[]>> {
  const memberships = await withPauses(membershipSteps(cluster, groups), slices);
  return (targeting) => withPauses(targetSteps(cluster, targeting, memberships), slices);
}

/** Work that may pause at each yield. */
type Steps<R> = Generator<undefined, R>;

/** Comparisons between two pauses. */
const comparedPerStep = 64;

function atOnce<R>(steps: Steps<R>): R {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

async function withPauses<R>(steps: Steps<R>, slices: TimeSlices): Promise<R> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slices.isOver) await slices.pause();
  }
}

function* targetSteps<T extends TargetCriteria>(
  cluster: TargetCluster,
  targeting: Targeting<T>,
  memberships: readonly Membership[],
): Steps<readonly T[]> {
  const candidates = targeting.targets ?? [];
  const customizations = customizationsOf(targeting);
  if (customizations.length > 0)
    return yield* customizedSteps({ cluster, targeting, customizations, memberships });
  const target = yield* firstMatch(cluster, candidates, memberships);
  if (target === undefined || target.doNotDeploy === true) return [];
  const restrictions = targeting.targetRestrictions ?? [];
  if (restrictions.length === 0) return [target];
  // As in Fleet: a restriction and a target must match by the same group, and the target need not be the first that matches.
  const matching = [restrictions, candidates].map((all) =>
    all.filter((criteria) => matchesCluster(cluster, criteria)),
  );
  for (const group of memberships) {
    if (matching.every((all) => all.some((criteria) => matchesGroup(group, criteria))))
      return [target];
    yield;
  }
  return [];
}

/**
 * The targets that change options for clusters which other targets match: with a mode and restrictions all before the last ones,
 * of which there are as many as restrictions.
 */
export function customizationsOf<T extends TargetCriteria>({
  targets,
  targetRestrictions,
  targetCustomizationMode,
}: Targeting<T>): readonly T[] {
  const restrictions = targetRestrictions?.length ?? 0;
  if (targetCustomizationMode === undefined || restrictions === 0) return [];
  return (targets ?? []).slice(0, -restrictions);
}

interface Customized<T extends TargetCriteria> {
  readonly cluster: TargetCluster;
  readonly targeting: Targeting<T>;
  readonly customizations: readonly T[];
  readonly memberships: readonly Membership[];
}

/** A cluster needs an ordinary target, which matches it together with a restriction; a customization alone is no target. */
function* customizedSteps<T extends TargetCriteria>({
  cluster,
  targeting,
  customizations,
  memberships,
}: Customized<T>): Steps<readonly T[]> {
  const restrictions = (targeting.targetRestrictions ?? []).filter((criteria) =>
    matchesCluster(cluster, criteria),
  );
  const allowed = memberships.filter((group) =>
    restrictions.some((criteria) => matchesGroup(group, criteria)),
  );
  yield;
  const own = (targeting.targets ?? []).slice(customizations.length);
  const target = yield* firstMatch(cluster, own, allowed);
  if (target === undefined || target.doNotDeploy === true) return [];
  if (targeting.targetCustomizationMode === "FirstMatch") {
    const first = (yield* firstMatch(cluster, customizations, memberships)) ?? target;
    return first.doNotDeploy === true ? [] : [first];
  }
  const matching: T[] = [];
  for (const customization of customizations)
    if ((yield* firstMatch(cluster, [customization], memberships)) !== undefined)
      matching.push(customization);
  return matching.some(({ doNotDeploy }) => doNotDeploy === true) ? [] : [target, ...matching];
}

function* firstMatch<T extends TargetCriteria>(
  cluster: TargetCluster,
  candidates: readonly T[],
  memberships: readonly Membership[],
): Steps<T | undefined> {
  let compared = 0;
  for (const candidate of candidates) {
    // What is the same for all groups comes first: a cluster may be in hundreds of them.
    if (matchesCluster(cluster, candidate))
      for (const group of memberships) {
        if (matchesGroup(group, candidate)) return candidate;
        compared += 1;
        if (compared % comparedPerStep === 0) yield;
      }
    compared += 1;
    if (compared % comparedPerStep === 0) yield;
  }
  return undefined;
}

type Membership = TargetGroup | undefined;

/** The groups of a cluster, one of which must meet all criteria for groups; undefined stands for none. */
function* membershipSteps(
  cluster: TargetCluster,
  groups: readonly TargetGroup[],
): Steps<readonly Membership[]> {
  const own: TargetGroup[] = [];
  for (const [index, group] of groups.entries()) {
    if (isMember(cluster, group)) own.push(group);
    if (index % comparedPerStep === comparedPerStep - 1) yield;
  }
  return own.length === 0 ? [undefined] : own;
}

/** Whether a target or a restriction matches a cluster by any of its groups. */
export function matchesAny(
  cluster: TargetCluster,
  criteria: TargetCriteria,
  groups: readonly TargetGroup[],
): boolean {
  if (!matchesCluster(cluster, criteria)) return false;
  return atOnce(membershipSteps(cluster, groups)).some((group) => matchesGroup(group, criteria));
}

function matchesCluster(
  cluster: TargetCluster,
  { clusterName, clusterSelector, clusterGroup, clusterGroupSelector }: TargetCriteria,
): boolean {
  if (isGiven(clusterName) && !isCalled(cluster, clusterName)) return false;
  if (isGiven(clusterSelector)) return selects(clusterSelector, cluster.labels);
  return isGiven(clusterName) || isGiven(clusterGroup) || isGiven(clusterGroupSelector);
}

function matchesGroup(
  group: Membership,
  { clusterGroup, clusterGroupSelector }: TargetCriteria,
): boolean {
  if (isGiven(clusterGroup) && group?.name !== clusterGroup) return false;
  return (
    !isGiven(clusterGroupSelector) ||
    (group !== undefined && selects(clusterGroupSelector, group.labels))
  );
}

/** By its own name or by the one that Rancher shows. */
export function isCalled(cluster: TargetCluster, name: string): boolean {
  return cluster.name === name || cluster.labels[displayNameLabel] === name;
}

/** A group without a selector has no members. */
export function isMember(cluster: TargetCluster, group: TargetGroup): boolean {
  return (
    (group.namespace ?? cluster.namespace) === (cluster.namespace ?? group.namespace) &&
    group.selector !== undefined &&
    selects(group.selector, cluster.labels)
  );
}

/** Nulls and empty strings are no criteria. */
export function isGiven<V>(value: V | null | undefined): value is V {
  return value !== undefined && value !== null && value !== "";
}
