/** What a Schedule says: its window and its clusters, or what is wrong with it. Pure. */
import type { ClusterGroup, Schedule } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { parseWindow, quartzErrors, type Window } from "@flotilla/shared/quartz";
import {
  isGiven,
  matchesAny,
  type TargetCluster,
  type TargetCriteria,
  type TargetGroup,
  targetsOf,
  toTargetGroup,
} from "../targeting/match.ts";
import { selectorProblem } from "../targeting/selector-problem.ts";
import { targetCountProblem } from "../targeting/target-count.ts";

export interface JudgedSchedule {
  /** Absent where the Schedule is invalid: it is never active then, so its clusters are closed. */
  readonly window?: Window;
  /** Why it is invalid, as a sentence. */
  readonly problem?: string;
}

/** More are invalid, and not compared. */
const mostCompared = 1_000;

export function judgeSchedule({ spec }: Schedule): JudgedSchedule {
  const clusters = spec.targets?.clusters ?? [];
  const problem =
    targetCountProblem("spec.targets.clusters", clusters) ??
    clusters.map(criteriaProblem).find((each) => each !== undefined);
  if (problem !== undefined) return { problem };
  try {
    return { window: parseWindow(spec) };
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== quartzErrors.SCHEDULE_INVALID.code)
      throw thrown;
    return { problem: thrown.message };
  }
}

/** Whether a Schedule is for a cluster of its namespace, also when it is invalid. One that is being deleted is for none. */
export function coversCluster(
  { spec, metadata }: Schedule,
  cluster: TargetCluster,
  groups: () => readonly ClusterGroup[],
): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const targets = (spec.targets?.clusters ?? []).slice(0, mostCompared);
  // Most Schedules name no group, and then thousands of them need not be compared.
  const needed = targets.some(isByGroup) ? groups().map(toTargetGroup) : noGroups;
  return targetsOf(cluster, { targets }, needed).length > 0;
}

const noGroups: readonly TargetGroup[] = [];

/** Whether a Schedule selects clusters by groups. */
export function namesGroups({ spec }: Schedule): boolean {
  return (spec.targets?.clusters ?? []).some(isByGroup);
}

/** Whether a cluster is in a group; undefined: the group does not exist. */
export function isGroupMember(cluster: TargetCluster, group: ClusterGroup | undefined): boolean {
  return (
    group !== undefined &&
    matchesAny(cluster, { clusterGroup: group.metadata.name }, [toTargetGroup(group)])
  );
}

function isByGroup({ clusterGroup, clusterGroupSelector }: TargetCriteria): boolean {
  return isGiven(clusterGroup) || isGiven(clusterGroupSelector);
}

function criteriaProblem(
  { clusterSelector, clusterGroupSelector }: TargetCriteria,
  index: number,
): string | undefined {
  for (const [field, selector] of Object.entries({ clusterSelector, clusterGroupSelector })) {
    const problem = isGiven(selector) ? selectorProblem(selector) : undefined;
    if (problem !== undefined)
      return `spec.targets.clusters[${index}].${field} cannot be used: ${problem}`;
  }
  return undefined;
}
