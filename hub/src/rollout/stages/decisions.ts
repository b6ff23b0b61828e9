/** What of the status of a rollout was decided, in contrast to what is only shown. Pure. */
import type { BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import { parseTime } from "@flotilla/shared/time";

/**
 * The time of a step, ms since 1970: not before the newest decision, though the clock was set back since. Otherwise times in the status
 * would lie in the future, and what is promoted now would be late at once.
 */
export function timeOfStep(stored: BundleRolloutStatus | undefined, nowMs: number): number {
  return Math.max(nowMs, newestTime(stored));
}

function newestTime(stored: BundleRolloutStatus | undefined): number {
  const times = [
    stored?.startedAt,
    stored?.resumedAt,
    stored?.breach?.at,
    ...(stored?.stages ?? []).flatMap((stage) => [stage.startedAt, stage.completedAt]),
  ];
  return Math.max(0, ...times.map((time) => parseTime(time) ?? 0));
}

/** What must be stored before anything follows from it. */
export function decisionsOf(status: BundleRolloutStatus | undefined): unknown {
  if (status === undefined) return undefined;
  const { phase, breach, handledResume, resumedAt, stages = [] } = status;
  return {
    // Between these two nothing is decided: both promote what may be promoted.
    phase: phase === "Waiting" ? "Progressing" : phase,
    breach,
    handledResume,
    resumedAt,
    isPaused: status.reason === "Paused",
    goesBack: status.reason === "StableRequested",
    stages: stages.map((stage) => {
      const { startedAt, completedAt, acceptedFailures, gates } = stage;
      return {
        name: stage.name,
        phase: stage.phase,
        startedAt,
        completedAt,
        acceptedFailures,
        gates,
      };
    }),
  };
}
