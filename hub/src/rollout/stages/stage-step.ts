/** One step of one stage: its next phase and gates, what it waits for, and whether it may promote. Pure. */
import type { FailureAction, StageGate } from "@flotilla/shared/api";
import type { Breach, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { cutText } from "@flotilla/shared/text";
import { formatTimeMs } from "@flotilla/shared/time";
import {
  currentRecord,
  earliest,
  type GateFacts,
  type GateSubject,
  gateWakesAt,
  judgeGate,
  restartSoaks,
  startGate,
} from "./gate.ts";
import { type ClassedMember, isFailure } from "./member.ts";
import { memberWaiting, type WaitingStage } from "./member-waiting.ts";
import { startPlanGate, stepLatePlans } from "./plan-gates.ts";
import { planWaiting } from "./plan-waiting.ts";
import { closedWindowText, type WindowFacts, windowsAt } from "./stage-windows.ts";
import { named, type Waiting } from "./waiting.ts";

/** What a stage is decided by. `stored`: what the API server has of it; undefined: nothing yet. */
export interface StageInput extends WaitingStage {
  readonly members: readonly ClassedMember[];
  /** Nothing comes after it. */
  readonly isLast: boolean;
  readonly isSkipped: boolean;
  readonly onFailure: FailureAction;
  readonly facts: Omit<GateFacts, "isSettled" | "tests">;
  readonly subject: Omit<GateSubject, "when">;
  /** The clusters of the whole rollout. */
  readonly total: number;
}

/** What follows: to be stored before anything else does. */
export interface StageOutcome {
  readonly phase: StageStatus["phase"];
  readonly gates: readonly GateRecord[];
  readonly waiting: Waiting | undefined;
  readonly breach: Breach | undefined;
  /** When it may change by time alone, ms since 1970. */
  readonly wakesAtMs: number | undefined;
}

/** Whether the stage lets the next one begin. */
export function isThrough(phase: StageStatus["phase"] | undefined): boolean {
  return phase === "Completed" || phase === "Skipped";
}

/** Whether a stage was passed over without clusters, and has some now: it begins, with its gates. */
export function isReopened({
  stored,
  members,
  isSkipped,
}: Pick<StageInput, "stored" | "members" | "isSkipped">): boolean {
  const isEmpty = !members.some((each) => each.class !== "skipped");
  return stored?.phase === "Skipped" && !isSkipped && !isEmpty;
}

/** Whether its clusters may be promoted: in a completed stage, the ones that come late. */
export function mayPromote(phase: StageStatus["phase"] | undefined): boolean {
  return phase === "Progressing" || phase === "Completed";
}

/** The keys of those that a begun stage does not promote, because a Policy requires an approval that it began without. */
export function lackingApprovalIn(
  parts: readonly Pick<StageInput, "stored" | "members">[],
): readonly string[] {
  return parts
    .filter(({ stored }) => mayPromote(stored?.phase))
    .flatMap(({ members }) => members)
    .filter((each) => each.class === "pending" && each.lacksApproval)
    .map(({ member }) => member.key);
}

/** Failures that do not count already because a person has accepted them. */
export function failureBreach(input: StageInput): Breach | undefined {
  const { stage, members, limits, onFailure, facts } = input;
  if (onFailure === "Continue") return undefined;
  const failed = members.filter(isFailure).length;
  if (failed <= limits.maxFailures) return undefined;
  return {
    stage: stage.name,
    cause: "Failures",
    action: onFailure,
    at: formatTimeMs(facts.nowMs),
    failed,
    maxFailures: storable(limits.maxFailures),
  };
}

/** The step of the first stage that is not completed. */
export function stepStage(given: StageInput): StageOutcome {
  const input = isReopened(given) ? withSoaksRestarted(given) : given;
  const { stored } = input;
  const gates = stored?.gates ?? [];
  if (input.isSkipped) return through("Skipped", gates);
  const members = input.members.filter((each) => each.class !== "skipped");
  if (input.members.length === 0) {
    if (input.isLast || input.stage.allowEmpty === true) return through("Skipped", gates);
    const waiting = { reason: "StageEmpty", stage: input.stage.name, total: input.total } as const;
    return { ...idle(gates), phase: stored?.phase ?? "Pending", waiting };
  }
  if (members.length === 0) return through("Skipped", gates);
  switch (stored?.phase ?? "Pending") {
    case "Gated":
      return stepGates(input, "Before");
    case "Progressing":
      return stepPromoting(input, members);
    case "Soaking":
    case "Verifying":
      return stepGates(input, "After");
    // After a halt that was resumed it goes on where its gates are.
    default:
      return (input.stage.before ?? []).some((gate) => !isPassed(gates, gate))
        ? stepGates(input, "Before")
        : { ...idle(gates), phase: "Progressing" };
  }
}

function idle(gates: readonly GateRecord[]): Omit<StageOutcome, "phase"> {
  return { gates, waiting: undefined, breach: undefined, wakesAtMs: undefined };
}

function through(phase: "Completed" | "Skipped", gates: readonly GateRecord[]): StageOutcome {
  return { ...idle(gates), phase };
}

function isPassed(records: readonly GateRecord[], gate: StageGate): boolean {
  const { result, plan } = currentRecord(records, gate) ?? {};
  // A later plan is of clusters that came late: it holds up nobody else.
  const isLate = result === "Waiting" && plan !== undefined;
  return (
    result === "Passed" ||
    (isLate && records.some((each) => each.name === gate.name && each.result === "Passed"))
  );
}

/** All gates of one side are started together, and all of them must pass. */
function stepGates(input: StageInput, when: GateRecord["when"]): StageOutcome {
  const { stage, stored, facts, limits } = input;
  const wanted = (when === "Before" ? stage.before : stage.after) ?? [];
  const active = input.members.filter((each) => each.class !== "skipped");
  const isSettled =
    active.every((each) => each.class !== "inFlight") &&
    active.filter(isFailure).length <= limits.maxFailures;
  const all = { ...facts, isSettled, tests: testsOf(active) };
  let records = stored?.gates ?? [];
  const planned = new Set<StageGate>();
  for (const gate of wanted) {
    const record = currentRecord(records, gate);
    // After a halt that was resumed, a gate that had failed is asked for again.
    const isResumed = record?.result === "Failed" && !isWaitingPhase(stored?.phase, when);
    if (record === undefined || isResumed) {
      const started = startOne(gate, input, { records, members: active, when });
      if (started === undefined) planned.add(gate);
      else records = [...withoutOldest(records, gate), started];
    } else {
      const judged = judgeGate(gate, record, all);
      if (judged !== record) records = records.map((each) => (each === record ? judged : each));
    }
  }
  const current = wanted.flatMap((gate) => {
    const record = planned.has(gate) ? undefined : currentRecord(records, gate);
    return record === undefined ? [] : [{ gate, record }];
  });
  const failed = current.find(({ record }) => record.result === "Failed")?.record;
  if (failed !== undefined)
    return { ...idle(records), phase: "Halted", breach: gateBreach(input, failed) };
  const waiting = current.filter(({ record }) => record.result === "Waiting");
  if (planned.size > 0)
    return {
      ...idle(records),
      phase: "Gated",
      waiting: planWaiting(
        { stage, rollout: input.subject.rollout },
        waiting.map(({ record }) => record),
        active,
      ),
      wakesAtMs: earliest(waiting.map(({ gate, record }) => gateWakesAt(gate, record, facts))),
    };
  if (waiting.length === 0)
    return { ...idle(records), phase: when === "Before" ? "Progressing" : "Completed" };
  return {
    ...idle(records),
    phase: when === "Before" ? "Gated" : phaseAfter(waiting.map(({ record }) => record)),
    waiting: gatesWaiting(stage.name, waiting, facts),
    wakesAtMs: earliest(waiting.map(({ gate, record }) => gateWakesAt(gate, record, facts))),
  };
}

/** Records of one gate: its newest, and those that a resume has asked for again. Older ones are in the events. */
const mostRecords = 4;

function withoutOldest(
  records: readonly GateRecord[],
  { name }: Pick<StageGate, "name">,
): readonly GateRecord[] {
  const own = records.filter((record) => record.name === name);
  const [oldest] = own;
  return own.length < mostRecords ? records : records.filter((record) => record !== oldest);
}

/** Undefined: an approval of a plan that is not made yet. */
function startOne(
  gate: StageGate,
  { subject, facts: { nowMs } }: StageInput,
  {
    records,
    members,
    when,
  }: {
    readonly records: readonly GateRecord[];
    readonly members: readonly ClassedMember[];
    readonly when: GateRecord["when"];
  },
): GateRecord | undefined {
  const about = { ...subject, when };
  if (when === "Before" && gate.approval?.plan === true)
    return startPlanGate(gate, { records, members, subject: about, nowMs });
  const own = records.filter(({ name }) => name === gate.name);
  // Older records may be gone.
  const earlier = own.at(-1)?.attempt ?? own.length;
  return startGate(gate, about, { nowMs, earlier });
}

function isWaitingPhase(
  phase: StageStatus["phase"] | undefined,
  when: GateRecord["when"],
): boolean {
  return when === "Before" ? phase === "Gated" : phase === "Soaking" || phase === "Verifying";
}

function phaseAfter(waiting: readonly GateRecord[]): "Soaking" | "Verifying" {
  return waiting.some(({ type }) => type === "Soak") ? "Soaking" : "Verifying";
}

function gatesWaiting(
  stage: string,
  waiting: readonly { readonly gate: StageGate; readonly record: GateRecord }[],
  facts: WindowFacts & Pick<GateFacts, "awaitedProblem" | "nowMs">,
): Waiting {
  const others = waiting.filter(({ record }) => record.type !== "Soak");
  const [soak] = waiting;
  if (others.length > 0 || soak === undefined) {
    const details = others.flatMap(({ gate: { window, rollout } }) => {
      const closed = window && windowsAt([window], facts, facts.nowMs).closed;
      if (closed !== undefined) return [closedWindowText(closed)];
      return rollout === undefined ? [] : [facts.awaitedProblem(rollout) ?? awaitedText(rollout)];
    });
    return { reason: "GateWaiting", stage, gates: others.map(({ record }) => record), details };
  }
  const untilMs =
    soak.record.soakingSince === undefined ? undefined : gateWakesAt(soak.gate, soak.record, facts);
  return { reason: "Soaking", stage, duration: soak.gate.soak?.for ?? "", untilMs };
}

function awaitedText({ kind, name, stage }: NonNullable<StageGate["rollout"]>): string {
  return `the ${kind} ${name} has not completed ${stage ? `its stage ${stage}` : "its rollout"}`;
}

/** Members that run no tests have none to wait for. */
function testsOf(members: readonly ClassedMember[]): GateFacts["tests"] {
  const done = members.filter((each) => each.class === "done");
  const tested = done.filter(({ member }) => member.tests !== "None");
  if (tested.some(({ member }) => member.testsPassed === false)) return "failed";
  return done.length > 0 && tested.every(({ member }) => member.testsPassed === true)
    ? "passed"
    : "running";
}

/** By the reason of a gate; by any other one it was failed. */
const gateCauses: Readonly<Record<string, Breach["cause"]>> = {
  Expired: "GateExpired",
  Unverified: "GateUnverified",
};

function gateBreach(
  { stage, onFailure, facts, limits, members }: StageInput,
  gate: GateRecord,
): Breach {
  return {
    stage: stage.name,
    cause: gateCauses[gate.reason ?? ""] ?? "GateFailed",
    // A gate that has failed never passes. One that does not count says nothing about what is deployed.
    action: onFailure === "Continue" || gate.reason === "Unverified" ? "Halt" : onFailure,
    at: formatTimeMs(facts.nowMs),
    failed: members.filter(isFailure).length,
    maxFailures: storable(limits.maxFailures),
    gate: gate.name,
    ...decisionIn(gate),
  };
}

/** As much of it as a sentence has room for. */
const mostDecisionChars = 256;

/** Who failed a gate, and why; nothing where the hub did. */
function decisionIn({ decision }: GateRecord): Pick<Breach, "decision"> {
  const { by = "", message = "" } = decision ?? {};
  if (by === "") return {};
  const why = message === "" ? "" : `"${message}", `;
  return { decision: cutText(`${why}by ${by}`, mostDecisionChars) };
}

/** Clusters whose turn comes after the approval of a plan are asked about by themselves. */
function stepPromoting(input: StageInput, members: readonly ClassedMember[]): StageOutcome {
  const { stage, stored, subject, facts, limits } = input;
  const records = stored?.gates ?? [];
  const late = stepLatePlans(stage, "Progressing", {
    records,
    members,
    limits,
    subject: { ...subject, when: "Before" },
    facts: { ...facts, isSettled: false, tests: "running" },
  });
  if (late.failed !== undefined)
    return { ...idle(late.records), phase: "Halted", breach: gateBreach(input, late.failed) };
  const isSame = late.records === records || stored === undefined;
  return stepMembers(
    isSame ? input : { ...input, stored: { ...stored, gates: late.records } },
    members,
  );
}

/** A stage whose gates before it have passed: promotes, until nothing is pending or in flight. */
function stepMembers(input: StageInput, members: readonly ClassedMember[]): StageOutcome {
  const { stage, stored, limits, facts } = input;
  const gates = stored?.gates ?? [];
  const keys = (kind: ClassedMember["class"]) =>
    members.filter((each) => each.class === kind).map(({ member }) => member.key);
  const [done, inFlight, pending] = [keys("done"), keys("inFlight"), keys("pending")];
  const offSchedule = keys("offSchedule");
  const progressing = { ...idle(gates), phase: "Progressing" } as const;
  if (inFlight.length > 0 || pending.length > 0 || offSchedule.length > 0) {
    const waiting = memberWaiting(input, members);
    return { ...progressing, waiting };
  }
  const needed = stage.minSuccess ?? 1;
  if (done.length >= needed) {
    return (stage.after ?? []).length === 0
      ? through("Completed", gates)
      : stepGates(input, "After");
  }
  const missing = missingIn(members);
  if (done.length === 0 && missing.length === 0) {
    const breach: Breach = {
      stage: stage.name,
      cause: "NothingReady",
      action: input.onFailure === "Continue" ? "Halt" : input.onFailure,
      at: formatTimeMs(facts.nowMs),
      failed: members.filter((each) => each.class === "failed").length,
      maxFailures: storable(limits.maxFailures),
    };
    return { ...idle(gates), phase: "Halted", breach };
  }
  const waiting = {
    reason: "ClustersMissing",
    stage: stage.name,
    done: done.length,
    needed,
    missing: named(missing),
  } as const;
  return { ...progressing, waiting };
}

/** Clusters that are not there, each with why: offline ones first. */
function missingIn(members: readonly ClassedMember[]): readonly string[] {
  const offline = members.filter((each) => each.class === "offline");
  const paused = members.filter((each) => each.class === "paused");
  return [
    ...offline.map(({ member: { key, offlineSince } }) =>
      offlineSince === "" ? `${key} never connected` : `${key} offline since ${offlineSince}`,
    ),
    ...paused.map(({ member }) => `${member.key} paused`),
  ];
}

/** With `Continue` there is no limit, which JSON cannot say. */
export function storable(count: number): number {
  return Number.isFinite(count) ? count : Number.MAX_SAFE_INTEGER;
}

/** A stage that was passed over while it soaked has other clusters by now: none of them has soaked. */
function withSoaksRestarted({ stored, ...input }: StageInput): StageInput {
  const { gates = [] } = stored ?? {};
  return { ...input, stored: stored && { ...stored, gates: [...restartSoaks(gates)] } };
}
