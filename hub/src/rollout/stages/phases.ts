/** The phases of a staged rollout that are entered at once: ended, adopted, paused, halted. Pure. */
import type { Breach, BundleRolloutStatus, RolloutReason } from "@flotilla/shared/api/rollout";
import { formatTimeMs, parseTime } from "@flotilla/shared/time";
import { stagesOf } from "../../rules/index.ts";
import { shiftGates, unverifiedText } from "./gate.ts";
import type { Decided } from "./staged-status.ts";
import type { StageParts, StepInputs } from "./step-inputs.ts";
import { waitingText } from "./waiting.ts";

/** As it is stored. */
export function kept(inputs: StepInputs): Decided {
  const { stored, spec, strategy, nowMs } = inputs;
  const stages = new Map(
    stagesOf(strategy).map(({ name }) => {
      const state = stored?.stages?.find((each) => each.name === name);
      const { startedAt, completedAt, acceptedFailures } = state ?? {};
      const times = { startedAt, completedAt, acceptedFailures };
      return [
        name,
        { phase: state?.phase ?? "Pending", gates: state?.gates ?? [], ...times },
      ] as const;
    }),
  );
  return {
    phase: stored?.phase ?? "Progressing",
    reason: stored?.reason,
    message: stored?.message ?? "",
    startedAt: stored?.startedAt ?? formatTimeMs(nowMs),
    breach: stored?.breach,
    // What was asked for while nothing was halted is done.
    handledResume: stored?.phase === "Halted" ? stored.handledResume : spec.resume,
    resumedAt: stored?.resumedAt,
    stages,
    wakesAtMs: undefined,
  };
}

export function end(
  same: Decided,
  phase: "Superseded" | "Cancelled" | "RolledBack",
  reason: RolloutReason,
): Decided {
  const isBack = phase === "RolledBack" || reason === "StableRequested";
  const stages = isBack ? takenBackStages(same) : same.stages;
  return { ...same, phase, reason, message: endText(phase, reason), stages };
}

/** Stages whose clusters have got back what they had are not what they had come to. */
function takenBackStages({ stages }: Decided): Decided["stages"] {
  return new Map(
    [...stages].map(([name, stage]) => {
      const isLeft = stage.phase === "Pending" || stage.phase === "Skipped";
      return [name, isLeft ? stage : { ...stage, phase: "RolledBack" as const }] as const;
    }),
  );
}

export function endText(
  phase: "Superseded" | "Cancelled" | "RolledBack",
  reason: RolloutReason,
): string {
  if (phase === "Cancelled") return "cancelled; clusters keep what they have";
  if (phase === "RolledBack") return "clusters have got back what they had before";
  return reason === "StableRequested"
    ? "taken back, because the desired revision is the one before"
    : "a newer revision was started instead";
}

export const completedPhase = {
  phase: "Completed",
  reason: "AllStagesCompleted",
  message: "",
} as const;

/** A fleet that has the revision already: nothing is asked for that is done. */
export function adopted(inputs: StepInputs, parts: readonly StageParts[]): Decided {
  const same = kept(inputs);
  const at = formatTimeMs(inputs.nowMs);
  const stages = new Map(
    parts.map(({ stage }) => {
      const times = { startedAt: at, completedAt: at, acceptedFailures: undefined };
      return [stage.name, { phase: "Completed", gates: [], ...times }] as const;
    }),
  );
  return { ...same, ...completedPhase, stages };
}

export function pausedPhase(
  phase: BundleRolloutStatus["phase"],
  same: Decided,
): Pick<Decided, "phase" | "reason" | "message"> {
  if (phase === "Halted") return same;
  return { phase: "Waiting", reason: "Paused", message: waitingText({ reason: "Paused" }) };
}

/** Gates, soaks and deadlines stood still since it was paused. */
export function unpaused({ stored, nowMs }: StepInputs, same: Decided): Decided {
  const pausedMs = Math.max(0, nowMs - (parseTime(stored?.since) ?? nowMs));
  const stages = new Map(
    [...same.stages].map(
      ([name, stage]) => [name, { ...stage, gates: shiftGates(stage.gates, pausedMs) }] as const,
    ),
  );
  return { ...same, resumedAt: formatTimeMs(nowMs), stages };
}

/** As `spec.state` asks. What it waited for before is not what it waits for now. */
export const haltedByUser = {
  phase: "Halted",
  reason: "Requested",
  message:
    "halted by spec.state: nothing is promoted, and Gates that are decided meanwhile count when it goes on; to go on, set it to Running or run flotilla rollout resume",
} as const;

/** Stored before anything is halted or taken back. */
export function halt(same: Decided, breach: Breach): Decided {
  const reason = breachReason(breach);
  const stage = same.stages.get(breach.stage);
  return {
    ...same,
    phase: breach.action === "Rollback" ? "RollingBack" : "Halted",
    reason,
    message: breachText(breach),
    breach,
    stages:
      stage === undefined
        ? same.stages
        : new Map([...same.stages, [breach.stage, { ...stage, phase: "Halted" }]]),
  };
}

export function breachReason({ cause }: Breach): RolloutReason {
  return cause === "Failures" ? "TooManyFailures" : cause;
}

export function breachText(breach: Breach): string {
  const { stage, cause, failed, maxFailures, gate, at, decision } = breach;
  switch (cause) {
    case "Failures":
      return `stage ${stage}: ${failed} ${failed === 1 ? "cluster has" : "clusters have"} failed, more than the ${maxFailures} that may`;
    case "GateFailed":
      return `the gate ${gate} of stage ${stage} has failed${decision === undefined ? "" : `: ${decision}`}`;
    case "GateUnverified":
      return `the gate ${gate} of stage ${stage} does not count: ${unverifiedText}`;
    case "GateExpired":
      return `nobody decided the gate ${gate} of stage ${stage} until ${at}`;
    case "NothingReady":
      return `no cluster of stage ${stage} is ready`;
  }
}
