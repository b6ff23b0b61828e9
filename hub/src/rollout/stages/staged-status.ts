/** The status of a BundleRollout, from what a step decided and the classes of its members. Pure. */
import { rolledOutCondition } from "@flotilla/shared/api";
import {
  type Breach,
  type BundleRolloutStatus,
  type FailingCluster,
  type GateRecord,
  maxFailureMessageLength,
  maxNamed,
  type RolloutCounts,
  type RolloutReason,
  type StagePhase,
  type StageStatus,
} from "@flotilla/shared/api/rollout";
import { setCondition } from "@flotilla/shared/conditions";
import { cutText } from "@flotilla/shared/text";
import { formatTimeMs, parseTime } from "@flotilla/shared/time";
import type { ClassedMember, MemberClass } from "./member.ts";
import { isFirstInstallation } from "./rollback.ts";
import { isThrough } from "./stage-step.ts";
import { fitted } from "./status-size.ts";
import type { StageParts, StepInputs } from "./step-inputs.ts";
import { clustersText, named, namesText } from "./waiting.ts";

/** What a step decided. */
export interface Decided {
  readonly phase: BundleRolloutStatus["phase"];
  readonly reason: RolloutReason | undefined;
  readonly message: string;
  readonly startedAt: string;
  readonly breach: Breach | undefined;
  readonly handledResume: string | undefined;
  readonly resumedAt: string | undefined;
  /** By name. */
  readonly stages: ReadonlyMap<string, DecidedStage>;
  readonly wakesAtMs: number | undefined;
}

export interface DecidedStage {
  readonly phase: StagePhase;
  readonly gates: readonly GateRecord[];
  readonly startedAt: string | undefined;
  readonly completedAt: string | undefined;
  readonly acceptedFailures: number | undefined;
}

/** Phases that a rollout does not leave by itself. */
const ended: ReadonlySet<string> = new Set(["RolledBack", "Completed", "Superseded", "Cancelled"]);

export function stagedStatus(
  inputs: StepInputs,
  parts: readonly StageParts[],
  decided: Decided,
): BundleRolloutStatus {
  const { stored, next, nowMs, stable } = inputs;
  const now = formatTimeMs(nowMs);
  const { phase, reason, message, breach, handledResume, resumedAt, startedAt } = decided;
  const limits = failingLimits(parts);
  const stages = parts.map((part) => stageStatus(part, decided, limits));
  const stage = stages.find((each) => !isThrough(each.phase))?.name;
  const isSame = stored?.phase === phase && stored.reason === reason && stored.stage === stage;
  const endedAt = ended.has(phase) ? (stored?.endedAt ?? now) : undefined;
  const unassigned = inputs.members.filter(({ key }) => !inputs.assignment.has(key));
  const counts = sumOf(stages, inputs.members.length);
  const kept = firstInstallations(inputs, phase);
  const text = [nextText(message, phase, next), ...unknownNames(inputs, parts)]
    .filter((each) => each !== "")
    .join("; ");
  return fitted({
    phase,
    ...(reason !== undefined && { reason }),
    ...(text !== "" && { message: text }),
    since: isSame ? (stored.since ?? now) : now,
    ...(stage !== undefined && { stage }),
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    ...(stable !== undefined && { stable }),
    ...(next !== undefined && {
      next: {
        revision: next.revision,
        ...(next.version !== undefined && { version: next.version }),
        since: stored?.next?.revision === next.revision ? stored.next.since : now,
      },
    }),
    ...(breach !== undefined && { breach }),
    ...(handledResume !== undefined && { handledResume }),
    ...(resumedAt !== undefined && { resumedAt }),
    clusters: counts,
    stages,
    ...(unassigned.length > 0 && {
      unassigned: {
        count: unassigned.length,
        first: unassigned.slice(0, maxNamed).map(({ key }) => key),
      },
    }),
    ...(kept.length > 0 && { kept: { count: kept.length, first: kept.slice(0, maxNamed) } }),
    display: { done: `${counts.done}/${counts.total}` },
    conditions: setCondition(
      stored?.conditions,
      {
        type: rolledOutCondition,
        status: rolledOut(phase),
        reason: reason ?? phase,
        message: text,
      },
      now,
    ),
  });
}

/** For the author of the app; undefined: each cluster that the revision has something for is in a stage. */
export function unassignedRemark({
  members,
  assignment,
}: Pick<StepInputs, "members" | "assignment">): string | undefined {
  const keys = members
    .filter(({ content, key }) => content !== "" && !assignment.has(key))
    .map(({ key }) => key);
  if (keys.length === 0) return undefined;
  const clusters = named(keys);
  return `none of the stages of rolloutStrategy takes ${clustersText(clusters)}: ${namesText(clusters)}; nothing is promoted there: add a stage without criteria at the end, or change a selector`;
}

/** What a person has written that is nothing of this rollout: nothing follows from it. */
function unknownNames(
  { spec, members }: StepInputs,
  parts: readonly StageParts[],
): readonly string[] {
  const keys = new Set(members.map(({ key }) => key));
  const stages = new Set(parts.map(({ stage }) => stage.name));
  const unknown = {
    skip: (spec.skip ?? []).filter((key) => !keys.has(key)),
    skipStages: (spec.skipStages ?? []).filter((name) => !stages.has(name)),
  };
  return Object.entries(unknown).flatMap(([field, names]) =>
    names.length === 0
      ? []
      : [
          `spec.${field} has ${namesText(named(names))}, which ${names.length === 1 ? "is" : "are"} not in this rollout: correct or remove ${names.length === 1 ? "it" : "them"}`,
        ],
  );
}

/** True: completed. False: halted, or taken back. */
export function rolledOut(phase: BundleRolloutStatus["phase"]): "True" | "False" | "Unknown" {
  if (phase === "Completed") return "True";
  return phase === "Progressing" || phase === "Waiting" ? "Unknown" : "False";
}

/** The newer revision waits for the end of this one, and a person may want that at once. */
function nextText(
  message: string,
  phase: BundleRolloutStatus["phase"],
  next: StepInputs["next"],
): string {
  if (next === undefined || !yielding.has(phase)) return message;
  const { version } = next;
  const what = version === undefined ? "a newer revision" : `version ${version}`;
  const waits = `${what} waits for the end of this ${phase === "RollingBack" ? "rollback" : "rollout"}`;
  return phase === "RollingBack"
    ? `${message}; ${waits}`
    : `${message}; ${waits}: set spec.state to Cancelled to start it instead`;
}

/** Phases in which a newer revision waits. */
const yielding: ReadonlySet<string> = new Set(["Progressing", "Waiting", "RollingBack"]);

function stageStatus(
  { stage, members }: StageParts,
  decided: Decided,
  limits: FailingLimits,
): StageStatus {
  const own = decided.stages.get(stage.name);
  const { phase = "Pending", gates = [], startedAt, completedAt, acceptedFailures } = own ?? {};
  const failing = failingOf(members, limits);
  return {
    name: stage.name,
    phase,
    ...countsOf(members),
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(acceptedFailures !== undefined && { acceptedFailures }),
    ...(gates.length > 0 && { gates }),
    ...(failing.length > 0 && { failing }),
  };
}

function countsOf(members: readonly ClassedMember[]): RolloutCounts {
  const count = (kind: MemberClass) => members.filter((each) => each.class === kind).length;
  return {
    total: members.length,
    done: count("done"),
    inFlight: count("inFlight"),
    failed: count("failed"),
    pending: count("pending"),
    offline: count("offline"),
    paused: count("paused"),
    skipped: count("skipped"),
    offSchedule: count("offSchedule"),
    brokenBefore: members.filter(({ isBrokenBefore }) => isBrokenBefore).length,
  };
}

function sumOf(stages: readonly RolloutCounts[], total: number): RolloutCounts {
  const sum = (field: keyof RolloutCounts) =>
    stages.reduce((all, counts) => all + counts[field], 0);
  return {
    total,
    done: sum("done"),
    inFlight: sum("inFlight"),
    failed: sum("failed"),
    pending: sum("pending"),
    offline: sum("offline"),
    paused: sum("paused"),
    skipped: sum("skipped"),
    offSchedule: sum("offSchedule"),
    brokenBefore: sum("brokenBefore"),
  };
}

/** What is said about failing clusters. */
interface FailingLimits {
  /** The most in one stage. */
  readonly named: number;
  /** Characters of one message. */
  readonly messageLength: number;
}

/** In all stages together: ten clusters of each of sixteen stages, with whole messages, would be most of the object. */
const mostFailing = 60;
const mostMessageChars = 8_000;

function failingLimits(parts: readonly StageParts[]): FailingLimits {
  const counts = parts
    .map(({ members }) => members.filter((each) => each.class === "failed").length)
    .filter((count) => count > 0);
  const named = Math.max(1, Math.min(maxNamed, Math.floor(mostFailing / counts.length)));
  const all = counts.reduce((sum, count) => sum + Math.min(count, named), 0);
  const messageLength = Math.min(maxFailureMessageLength, Math.floor(mostMessageChars / all));
  return { named, messageLength };
}

function failingOf(
  members: readonly ClassedMember[],
  { named, messageLength }: FailingLimits,
): readonly FailingCluster[] {
  return members
    .filter((each) => each.class === "failed")
    .slice(0, named)
    .map(({ member }) => ({
      cluster: member.key,
      message: cutText(member.message, messageLength),
      since: formatTimeMs(member.unreadySinceMs ?? parseTime(member.promotion?.at) ?? 0),
    }));
}

function firstInstallations(
  { members, name }: StepInputs,
  phase: BundleRolloutStatus["phase"],
): readonly string[] {
  if (phase !== "RollingBack" && phase !== "RolledBack") return [];
  return members.filter((member) => isFirstInstallation(member, name)).map(({ key }) => key);
}

export function withoutGeneration(status: BundleRolloutStatus | undefined): unknown {
  if (status === undefined) return undefined;
  const { observedGeneration: _, ...others } = status;
  return others;
}

/** Whether a rollout has ended for good: one that is completed still serves clusters that come late. */
export function isOver(phase: BundleRolloutStatus["phase"]): boolean {
  return phase === "Superseded" || phase === "Cancelled" || phase === "RolledBack";
}

export function withoutStages(status: BundleRolloutStatus, now: string): BundleRolloutStatus {
  const message = "the strategy has no stages any more";
  const endedAt = status.endedAt ?? now;
  return { ...status, phase: "Superseded", reason: "NewerRevision", message, since: now, endedAt };
}
