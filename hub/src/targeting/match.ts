/**
 * Which clusters a Bundle is deployed to, and by which of its targets. Pure; the rules are Fleet's (first match wins).
 */
import { type Cluster, type ClusterGroup, type LabelSelector, selects } from "@flotilla/shared/api";

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
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface TargetGroup {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: LabelSelector | undefined;
}

export function toTargetCluster({ metadata }: Cluster): TargetCluster {
  return { name: metadata.name, labels: metadata.labels ?? {} };
}

export function toTargetGroup({ metadata, spec }: ClusterGroup): TargetGroup {
  const { name, labels = {} } = metadata;
  return { name, labels, selector: spec.selector ?? undefined };
}

/** Rancher's name for a cluster; a target's clusterName may use it. */
const displayNameLabel = "management.cattle.io/cluster-display-name";

/** The targets of a Bundle, and what limits the clusters that they reach. */
export interface Targeting<T extends TargetCriteria = TargetCriteria> {
  readonly targets?: readonly T[] | null | undefined;
  /** An allow list: absent and empty allow every cluster. */
  readonly targetRestrictions?: readonly TargetCriteria[] | null | undefined;
}

/**
 * The first target that matches a cluster, or undefined where it gets nothing (no match, `doNotDeploy`, or not allowed by
 * the restrictions).
 */
export function targetFor<T extends TargetCriteria>(
  cluster: TargetCluster,
  targeting: Targeting<T>,
  groups: readonly TargetGroup[],
): T | undefined {
  return targetsFor(cluster, groups)(targeting);
}

/** The same for the targets of many Bundles: the groups of the cluster are found once. */
export function targetsFor(
  cluster: TargetCluster,
  groups: readonly TargetGroup[],
): <T extends TargetCriteria>({ targets, targetRestrictions }: Targeting<T>) => T | undefined {
  const memberships = membershipsOf(cluster, groups);
  return ({ targets, targetRestrictions }) => {
    const candidates = targets ?? [];
    const target = candidates.find((candidate) => matchesBy(cluster, candidate, memberships));
    if (target === undefined || target.doNotDeploy === true) return undefined;
    const restrictions = targetRestrictions ?? [];
    if (restrictions.length === 0) return target;
    // As in Fleet: a restriction and a target must match by the same group, and the target need not be the first that matches.
    const matching = [restrictions, candidates].map((all) =>
      all.filter((criteria) => matchesCluster(cluster, criteria)),
    );
    const isAllowed = memberships.some((group) =>
      matching.every((all) => all.some((criteria) => matchesGroup(group, criteria))),
    );
    return isAllowed ? target : undefined;
  };
}

type Membership = TargetGroup | undefined;

/** The groups of a cluster, one of which must meet all criteria for groups; undefined stands for none. */
function membershipsOf(
  cluster: TargetCluster,
  groups: readonly TargetGroup[],
): readonly Membership[] {
  const own = groups.filter((group) => isMember(cluster, group));
  return own.length === 0 ? [undefined] : own;
}

/** Whether a target or a restriction matches a cluster by any of its groups. */
export function matchesAny(
  cluster: TargetCluster,
  criteria: TargetCriteria,
  groups: readonly TargetGroup[],
): boolean {
  return matchesBy(cluster, criteria, membershipsOf(cluster, groups));
}

/** What is the same for all groups comes first: a cluster may be in hundreds of them. */
function matchesBy(
  cluster: TargetCluster,
  criteria: TargetCriteria,
  memberships: readonly Membership[],
): boolean {
  return (
    matchesCluster(cluster, criteria) && memberships.some((group) => matchesGroup(group, criteria))
  );
}

function matchesCluster(
  cluster: TargetCluster,
  { clusterName, clusterSelector, clusterGroup, clusterGroupSelector }: TargetCriteria,
): boolean {
  if (![clusterName, clusterSelector, clusterGroup, clusterGroupSelector].some(isGiven))
    return false;
  if (isGiven(clusterName) && !isCalled(cluster, clusterName)) return false;
  return !isGiven(clusterSelector) || selects(clusterSelector, cluster.labels);
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
  return group.selector !== undefined && selects(group.selector, cluster.labels);
}

/** Nulls and empty strings are no criteria. */
export function isGiven<V>(value: V | null | undefined): value is V {
  return value !== undefined && value !== null && value !== "";
}
