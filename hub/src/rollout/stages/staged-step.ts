/**
 * One step of a staged rollout, from what is stored, the clusters and the time: the status to store, and what is promoted. Pure: it may
 * be asked again at any time, by any leader. What it decides is stored first: a step that decides anything promotes nothing.
 */
import { isDeepStrictEqual } from "node:util";
import type { BundleRolloutStatus, StageStatus } from "@flotilla/shared/api/rollout";
import { formatTimeMs, parseTime } from "@flotilla/shared/time";
import { decisionsOf, timeOfStep } from "./decisions.ts";
import { heldRequests } from "./forced-requests.ts";
import { currentRecord, earliest, restartSoaks } from "./gate.ts";
import { heldMembers } from "./held-members.ts";
import { isFailure, isForced, isUnapplied, type Member } from "./member.ts";
import {
  adopted,
  completedPhase,
  end,
  halt,
  haltedByUser,
  kept,
  pausedPhase,
  unpaused,
} from "./phases.ts";
import { planGatesOf, plannedIn, stepLatePlans, unplanned } from "./plan-gates.ts";
import { planWaiting } from "./plan-waiting.ts";
import { choosePromotions } from "./promote.ts";
import { chooseRollbacks } from "./rollback.ts";
import {
  failureBreach,
  isReopened,
  isThrough,
  lackingApprovalIn,
  mayPromote,
  type StageOutcome,
  stepStage,
} from "./stage-step.ts";
import { type Decided, stagedStatus } from "./staged-status.ts";
import { goBack, rollbackParts, standingBack, stayBack, stepBack } from "./step-back.ts";
import { forcedParts, type StageParts, type StepInputs, stagePartsOf } from "./step-inputs.ts";
import { type Waiting, waitingText } from "./waiting.ts";

/** What a member gets: the revision, or what it had before. */
export interface Promoted {
  readonly member: Member;
  readonly content: string;
  readonly isRollback: boolean;
  /** What its agent verifies right before Helm runs: what was approved to change; absent: nothing. */
  readonly planned?: string | undefined;
}

export interface StepResult {
  readonly status: BundleRolloutStatus;
  /** Whether its decisions are stored. While they are not, nothing is promoted. */
  readonly isStored: boolean;
  readonly promotions: readonly Promoted[];
  /** The stages with their members, by class. */
  readonly parts: readonly StageParts[];
  /** The keys of those that a begun stage does not promote, because a Policy requires an approval that it began without. */
  readonly lackingApproval: readonly string[];
  /** The keys of those whose request to force waits for its turn. */
  readonly heldRequests: ReadonlySet<string>;
  /** The keys of those that are not tried again until a window opens. */
  readonly held: ReadonlySet<string>;
  /** Members of which it has to be known what would change before anything more is approved or promoted. */
  readonly toPlan: readonly Member[];
  /** When it may change by time alone, ms since 1970. */
  readonly wakesAtMs: number | undefined;
}

const noRequests: ReadonlySet<string> = new Set();

export function stepRollout(inputs: StepInputs): StepResult {
  const nowMs = timeOfStep(inputs.stored, inputs.nowMs);
  const parts = stagePartsOf({ ...inputs, nowMs });
  const decided = withLatePlans({ ...inputs, nowMs }, parts, decide({ ...inputs, nowMs }, parts));
  const status = stagedStatus({ ...inputs, nowMs }, parts, decided);
  const isStored = isDeepStrictEqual(decisionsOf(inputs.stored), decisionsOf(status));
  return {
    status,
    isStored,
    promotions: isStored ? promotionsOf({ ...inputs, nowMs }, parts, status) : [],
    parts,
    lackingApproval: lackingApprovalIn(parts),
    heldRequests: inputs.members.some(isForced)
      ? heldRequests(forcedParts({ ...inputs, nowMs }, parts))
      : noRequests,
    held: heldMembers(inputs, parts),
    toPlan: mayStep(inputs, status.phase) ? toPlanIn(parts, status) : [],
    wakesAtMs: earliest([decided.wakesAtMs, ...edgesOf(parts), ...wakesOf(parts, status)]),
  };
}

/** When the windows open or close of stages where that holds, or lets go on, what is in flight: whatever the phase is. */
function edgesOf(parts: readonly StageParts[]): readonly (number | undefined)[] {
  return parts.map(({ members, window }) =>
    members.some(({ member }) => isUnapplied(member)) ? window.changesAtMs : undefined,
  );
}

/** Deadlines of clusters in flight, and windows for which members wait, whatever stage they are in. */
function wakesOf(
  parts: readonly StageParts[],
  { phase }: BundleRolloutStatus,
): readonly (number | undefined)[] {
  if (!isRunning(phase)) return [];
  return parts.flatMap(({ members, window, stored }) => [
    ...(stored?.gates ?? []).map(({ plan, result, expiresAt }) =>
      plan !== undefined && result === "Waiting" ? parseTime(expiresAt) : undefined,
    ),
    // One that did not answer is asked again.
    ...members.map(({ isUnapproved, member: { plan } }) =>
      isUnapproved && plan?.kind === "unknown" && plan.untilMs !== undefined
        ? plan.untilMs + 1
        : undefined,
    ),
    // A cluster has failed once its deadline is over.
    ...members.map(({ failsAtMs }) => (failsAtMs === undefined ? undefined : failsAtMs + 1)),
    ...(members.some((each) => each.class === "offSchedule") ? [window.changesAtMs] : []),
  ]);
}

/** Whether anything may be asked for or promoted. */
function mayStep(
  { isPaused, spec }: Pick<StepInputs, "isPaused" | "spec">,
  phase: BundleRolloutStatus["phase"],
): boolean {
  return isRunning(phase) && !isPaused && (spec.state ?? "Running") === "Running";
}

function toPlanIn(
  parts: readonly StageParts[],
  { stages = [] }: BundleRolloutStatus,
): readonly Member[] {
  return parts.flatMap(({ stage, members, limits }) => {
    const status = stages.find(({ name }) => name === stage.name);
    return status === undefined
      ? []
      : unplanned(stage, status, members, limits).map(({ member }) => member);
  });
}

/** In completed stages: what was decided about clusters that came late, and what is asked about them. */
function withLatePlans(
  inputs: StepInputs,
  parts: readonly StageParts[],
  decided: Decided,
): Decided {
  if (!mayStep(inputs, decided.phase)) return decided;
  const late = parts.flatMap(({ stage, stored, members, limits, subject, facts }) => {
    const state = decided.stages.get(stage.name);
    if (state?.phase !== "Completed" || stored?.phase !== "Completed") return [];
    const { records } = stepLatePlans(stage, "Completed", {
      records: state.gates,
      members,
      limits,
      subject: { ...subject, when: "Before" },
      facts: { ...facts, isSettled: false, tests: "running" },
    });
    return records === state.gates ? [] : [[stage.name, { ...state, gates: records }] as const];
  });
  const stages = late.length === 0 ? decided.stages : new Map([...decided.stages, ...late]);
  return withLateText({ ...decided, stages }, parts, inputs.name);
}

/** Clusters that came late wait for approvals of their own: nobody but the sentence says so, since the stages stay completed. */
function withLateText(decided: Decided, parts: readonly StageParts[], rollout: string): Decided {
  const texts = parts.flatMap(({ stage, members }) => {
    const state = decided.stages.get(stage.name);
    const isWaiting = members.some((each) => each.class === "pending" && each.isUnapproved);
    if (state?.phase !== "Completed" || !isWaiting) return [];
    const asked = planGatesOf(stage).map((gate) => currentRecord(state.gates, gate));
    const waiting = asked.flatMap((record) => (record?.result === "Waiting" ? [record] : []));
    return [
      `clusters that came late: ${waitingText(planWaiting({ stage, rollout }, waiting, members))}`,
    ];
  });
  const [first, ...others] = texts;
  if (first === undefined) return decided;
  const more = others.length === 0 ? "" : `; so do clusters in ${others.length} other stages`;
  const text = `${first}${more}`;
  const message = decided.message === "" ? text : `${decided.message}; ${text}`;
  return decided.phase === "Completed"
    ? { ...decided, reason: "GateWaiting", message }
    : { ...decided, message };
}

function isRunning(phase: BundleRolloutStatus["phase"]): boolean {
  return phase === "Progressing" || phase === "Waiting" || phase === "Completed";
}

/** The phase and its reason, and what each stage has come to. */
function decide(inputs: StepInputs, parts: readonly StageParts[]): Decided {
  const { stored, spec, goesBack, isSuperseded } = inputs;
  const phase = stored?.phase ?? "Progressing";
  const state = spec.state ?? "Running";
  const same = kept(inputs);
  if (stored === undefined && inputs.isAdopted) return adopted(inputs, parts);
  switch (phase) {
    case "Superseded":
    case "Cancelled":
      return goesBack && phase === "Cancelled" ? goBack(inputs, parts, "StableRequested") : same;
    case "RolledBack":
      if (goesBack) return end(same, "Superseded", "StableRequested");
      return isSuperseded
        ? end(same, "Superseded", "NewerRevision")
        : stayBack(inputs, parts, same);
    case "RollingBack":
      return standingBack(inputs, same) ?? stepBack(inputs, parts);
    case "Completed":
      if (isSuperseded) return end(same, "Superseded", "NewerRevision");
      if (state === "RolledBack") return goBack(inputs, parts, "Requested");
      return parts.some(isReopened) && state === "Running" && !inputs.isPaused
        ? stepStages(inputs, parts, same)
        : { ...same, ...completedPhase };
    default:
  }
  if (isSuperseded) return end(same, "Superseded", "NewerRevision");
  if (goesBack) return goBack(inputs, parts, "StableRequested");
  if (state === "RolledBack") return goBack(inputs, parts, "Requested");
  if (state === "Cancelled") return end(same, "Cancelled", "Requested");
  if (inputs.isPaused) return { ...same, ...pausedPhase(phase, same) };
  if (phase === "Halted") return stepHalted(inputs, parts, state === "Halted");
  if (state === "Halted") return { ...same, ...haltedByUser };
  const resumed = stored?.reason === "Paused" ? unpaused(inputs, same) : same;
  const breach = parts
    .filter((part) => hasBegun(part.stored?.phase))
    .map(failureBreach)
    .find((each) => each !== undefined);
  if (breach !== undefined) return halt(resumed, breach);
  return stepStages(inputs, parts, resumed);
}

function hasBegun(phase: StageStatus["phase"] | undefined): boolean {
  return phase !== undefined && phase !== "Pending" && phase !== "Skipped";
}

/** Goes on when a person asks for it; nothing else resumes it. */
function stepHalted(
  inputs: StepInputs,
  parts: readonly StageParts[],
  isHaltedByUser: boolean,
): Decided {
  const { stored, spec, nowMs } = inputs;
  const same = kept(inputs);
  if (isHaltedByUser) return stored?.breach === undefined ? { ...same, ...haltedByUser } : same;
  const isRequested = spec.resume !== undefined && spec.resume !== stored?.handledResume;
  if (stored?.breach === undefined || isRequested) {
    const stages = new Map(
      parts.map(({ stage, members }) => {
        const state = same.stages.get(stage.name);
        const failed = members.filter(isFailure).length;
        const { phase = "Pending", gates = [], startedAt, completedAt } = state ?? {};
        const accepted = isRequested && failed > 0 ? failed : state?.acceptedFailures;
        const begun = { phase, gates: restartSoaks(gates), startedAt, completedAt };
        return [stage.name, { ...begun, acceptedFailures: accepted }] as const;
      }),
    );
    return {
      ...same,
      phase: "Progressing",
      reason: "Promoting",
      message: "resumed",
      breach: undefined,
      handledResume: spec.resume,
      resumedAt: formatTimeMs(nowMs),
      stages,
    };
  }
  return same;
}

/** The first stage that is not through makes a step; those after it wait. */
function stepStages(inputs: StepInputs, parts: readonly StageParts[], same: Decided): Decided {
  const current = parts.find(
    (part) => !isThrough(same.stages.get(part.stage.name)?.phase) || isReopened(part),
  );
  if (current === undefined) return { ...same, ...completedPhase };
  const state = same.stages.get(current.stage.name);
  const stored = current.stored && { ...current.stored, ...(state && { gates: state.gates }) };
  const outcome = stepStage({ ...current, stored });
  const now = formatTimeMs(inputs.nowMs);
  const startedAt = state?.startedAt ?? (outcome.phase === "Pending" ? undefined : now);
  const completedAt = isThrough(outcome.phase) ? now : state?.completedAt;
  const acceptedFailures = state?.acceptedFailures;
  const next = {
    phase: outcome.phase,
    gates: outcome.gates,
    startedAt,
    completedAt,
    acceptedFailures,
  };
  const stages = new Map([...same.stages, [current.stage.name, next] as const]);
  const { breach } = outcome;
  if (breach !== undefined) return halt({ ...same, stages }, breach);
  return { ...same, ...shown(outcome), stages, wakesAtMs: outcome.wakesAtMs };
}

function shown({ waiting, phase }: StageOutcome): Pick<Decided, "phase" | "reason" | "message"> {
  if (waiting === undefined)
    return {
      phase: "Progressing",
      reason: "Promoting",
      message: `the stage is ${phase.toLowerCase()}`,
    };
  return {
    phase: isProgress(waiting) ? "Progressing" : "Waiting",
    reason: waiting.reason,
    message: waitingText(waiting),
  };
}

function isProgress(waiting: Waiting): boolean {
  return waiting.reason === "DependencyNotReady" ? !waiting.isIdle : waiting.reason === "Promoting";
}

/** By what is stored: the revision for members whose turn it is, or what they had before. */
function promotionsOf(
  inputs: StepInputs,
  parts: readonly StageParts[],
  status: BundleRolloutStatus,
): readonly Promoted[] {
  const { spec } = inputs;
  if (status.phase === "RollingBack" || status.phase === "RolledBack") {
    if (spec.state === "Halted" || inputs.isPaused) return [];
    return rollbackParts(inputs, parts).flatMap((part) =>
      part.isOpen
        ? chooseRollbacks(part.members, part.context, part.maxUnavailable).map((member) => ({
            member,
            content: member.promotion?.from ?? "",
            isRollback: true,
          }))
        : [],
    );
  }
  const isHeld = inputs.isPaused || (spec.state ?? "Running") !== "Running";
  if (!isRunning(status.phase) || isHeld) return [];
  const first = parts.findIndex(({ stored }) => !isThrough(stored?.phase));
  const open = first === -1 ? parts : parts.slice(0, first + 1);
  return open
    .filter((part) => mayPromote(part.stored?.phase) && failureBreach(part) === undefined)
    .flatMap(({ stage, members, limits }) =>
      choosePromotions(members, limits).map((member) => ({
        member,
        content: member.content,
        isRollback: false,
        planned: plannedIn(stage, member.plan),
      })),
    );
}
