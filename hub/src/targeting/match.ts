/**
 * Which clusters a Bundle is deployed to, and by which of its targets. Pure; the rules are Fleet's (first match wins).
 */
import { type LabelSelector, selects } from "@flotilla/shared/api";

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

/** Rancher's name for a cluster; a target's clusterName may use it. */
const displayNameLabel = "management.cattle.io/cluster-display-name";

/** The first target that matches a cluster, or undefined where it gets nothing (no match, or `doNotDeploy`). */
export function targetFor<T extends TargetCriteria>(
  cluster: TargetCluster,
  targets: readonly T[],
  groups: readonly TargetGroup[],
): T | undefined {
  const target = targets.find((candidate) => matches(cluster, candidate, groups));
  return target === undefined || target.doNotDeploy === true ? undefined : target;
}

function matches(
  cluster: TargetCluster,
  target: TargetCriteria,
  groups: readonly TargetGroup[],
): boolean {
  const { clusterName, clusterSelector, clusterGroup, clusterGroupSelector } = target;
  const hasGroupCriteria = isGiven(clusterGroup) || isGiven(clusterGroupSelector);
  if (!isGiven(clusterName) && !hasGroupCriteria && !isGiven(clusterSelector)) return false;

  if (isGiven(clusterName) && !isCalled(cluster, clusterName)) return false;
  if (isGiven(clusterSelector) && !selects(clusterSelector, cluster.labels)) return false;
  // All criteria for groups must match the same group.
  return !hasGroupCriteria || groups.some((group) => groupMatches(cluster, group, target));
}

function groupMatches(cluster: TargetCluster, group: TargetGroup, target: TargetCriteria): boolean {
  if (isGiven(target.clusterGroup) && group.name !== target.clusterGroup) return false;
  if (isGiven(target.clusterGroupSelector) && !selects(target.clusterGroupSelector, group.labels))
    return false;
  return isMember(cluster, group);
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
