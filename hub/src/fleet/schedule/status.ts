/** The status of a Schedule at a time. Pure. */
import { maxListed, type Schedule, type ScheduleStatus } from "@flotilla/shared/api";
import { findCondition, setConditions } from "@flotilla/shared/conditions";
import type { WindowState } from "@flotilla/shared/quartz";
import { formatTime } from "@flotilla/shared/time";
import { isUrgentChange } from "../../base/index.ts";
import type { ConditionState } from "../../rules/index.ts";

export interface ScheduleInputs {
  readonly schedule: Schedule;
  /** Absent where the Schedule is invalid. */
  readonly window: WindowState | undefined;
  /** Why it is invalid. */
  readonly problem: string | undefined;
  /** The names of its clusters, sorted. */
  readonly clusters: readonly string[];
  /** RFC 3339. */
  readonly now: string;
}

export function scheduleStatus({
  schedule,
  window,
  problem,
  clusters,
  now,
}: ScheduleInputs): ScheduleStatus {
  const { nextStartTime: _, ...before } = schedule.status ?? {};
  const observedGeneration = schedule.metadata.generation ?? 0;
  const ready = readyState(window, problem, clusters.length);
  return {
    ...before,
    active: window?.isOpen === true,
    ...(window?.nextStartMs !== undefined && { nextStartTime: formatTime(window.nextStartMs) }),
    matchingClusters: clusters.slice(0, maxListed),
    clusterCount: clusters.length,
    conditions: setConditions(
      before.conditions ?? [],
      [{ type: "Ready", ...ready, observedGeneration }],
      now,
    ),
  };
}

export function isUrgentSchedule(
  before: ScheduleStatus | undefined,
  after: ScheduleStatus,
): boolean {
  return (
    before?.active !== after.active ||
    isUrgentChange(
      findCondition(before?.conditions, "Ready"),
      findCondition(after.conditions, "Ready"),
    )
  );
}

function readyState(
  window: WindowState | undefined,
  problem: string | undefined,
  clusters: number,
): ConditionState {
  if (window === undefined)
    return {
      status: "False",
      reason: "ScheduleInvalid",
      message: `${problem ?? "the Schedule cannot be used"}; its clusters are not changed until this is corrected, except while another Schedule of theirs is active`,
    };
  if (!window.isOpen && window.nextStartMs === undefined)
    return {
      status: "False",
      reason: "NeverActive",
      message: `spec.schedule has no further start; its clusters are not changed, except while another Schedule of theirs is active`,
    };
  return {
    status: "True",
    reason: "Ready",
    message:
      clusters === 0 ? "it is for no cluster: no entry of spec.targets.clusters matches one" : "",
  };
}
