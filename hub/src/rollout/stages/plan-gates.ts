/**
 * Approvals of plans: which diffs they are about, which members they let through, and when another one is asked for. An approval is of a
 * set of diffs, not of a list of clusters: a cluster that joins, returns or changes goes on if its diff is in the set, and waits for a
 * Gate of its own otherwise. Pure.
 */
import type { RolloutStage, RolloutStrategy, StageGate } from "@flotilla/shared/api";
import { type GateRecord, maxApprovedDiffs, type StageStatus } from "@flotilla/shared/api/rollout";
import { firstInstallation, noChange } from "@flotilla/shared/plan/approved";
import { parseGoDuration, parseTime } from "@flotilla/shared/time";
import { stagesOf } from "../../rules/index.ts";
import {
  currentRecord,
  digestOf,
  ended,
  type GateFacts,
  type GateSubject,
  judgeGate,
  startGate,
} from "./gate.ts";
import {
  type ClassedMember,
  hasRevision,
  type KnownMemberPlan,
  type MemberPlan,
} from "./member.ts";
import type { StageLimits } from "./promote.ts";

/** Without `validFor`. */
const defaultValidForMs = 7 * 24 * 3_600_000;

/** Records of one gate. The oldest whose diffs nobody waits for any more goes first; while there is none, nothing more is asked for. */
const mostRecords = 4;

/** The gates of a stage that wait for the approval of a plan. */
export function planGatesOf({ before }: Pick<RolloutStage, "before">): readonly StageGate[] {
  return (before ?? []).filter(({ approval }) => approval?.plan === true);
}

/** Whether a stage of a strategy waits for the approval of a plan. */
export function hasPlanGates(strategy: RolloutStrategy): boolean {
  return stagesOf(strategy).some((stage) => planGatesOf(stage).length > 0);
}

/** Whether agents plan once more right before Helm runs. */
export function verifiesPlans(stage: Pick<RolloutStage, "before">): boolean {
  return planGatesOf(stage).some(({ approval }) => approval?.verify === true);
}

/** What was approved to change in a cluster, as its agent verifies it; undefined: it verifies nothing. */
export function plannedIn(
  stage: Pick<RolloutStage, "before">,
  plan: MemberPlan | undefined,
): string | undefined {
  if (!verifiesPlans(stage) || plan?.kind !== "known") return undefined;
  return plan.isFirst ? firstInstallation : plan.diff || noChange;
}

/** The diffs that were approved and may still be promoted. */
function approvedDiffs(
  records: readonly GateRecord[],
  gate: StageGate,
  nowMs: number,
): ReadonlySet<string> {
  const validForMs = parseGoDuration(gate.approval?.validFor ?? "") ?? defaultValidForMs;
  return new Set(
    records
      .filter(({ name, result, reason, decision }) => {
        const atMs = parseTime(decision?.at);
        return (
          name === gate.name &&
          result === "Passed" &&
          reason !== "Obsolete" &&
          atMs !== undefined &&
          nowMs < atMs + validForMs
        );
      })
      .flatMap(({ plan }) => plan?.diffs ?? []),
  );
}

/** Says of a member whether all approvals of plans let it through: nothing would change, or every gate approved its diff. */
export function approvals(
  stage: RolloutStage,
  records: readonly GateRecord[],
  nowMs: number,
): (plan: MemberPlan | undefined) => boolean {
  const sets = planGatesOf(stage).map((gate) => approvedDiffs(records, gate, nowMs));
  return (plan) =>
    sets.length === 0 ||
    (plan?.kind === "known" && (plan.diff === "" || sets.every((set) => set.has(plan.diff))));
}

/** Members whose turn it may be: those that could be asked, and do not have the revision. */
function candidatesIn(members: readonly ClassedMember[]): readonly ClassedMember[] {
  return members.filter(
    ({ class: kind, member }) =>
      (kind === "pending" || kind === "offSchedule") && member.content !== "",
  );
}

/** Clusters that are planned in one go, at least, once a stage is approved; and so few are planned before their turn. */
const leastPlanned = 200;

/**
 * Members of a stage that have to be planned before anything follows; none where no gate asks for it. Before the approval these are all
 * whose turn it may be. Afterwards, where they are many, only as many as can be promoted.
 */
export function unplanned(
  stage: RolloutStage,
  { phase, gates = [] }: Pick<StageStatus, "phase" | "gates">,
  members: readonly ClassedMember[],
  { maxUnavailable }: Pick<StageLimits, "maxUnavailable">,
): readonly ClassedMember[] {
  const wanted = planGatesOf(stage);
  if (wanted.length === 0) return [];
  const candidates = candidatesIn(members);
  const missing = candidates.filter(({ member }) => member.plan === undefined);
  if (phase === "Gated") {
    const isAsking = wanted.some((gate) => {
      const result = currentRecord(gates, gate)?.result;
      return result !== "Waiting" && result !== "Passed";
    });
    return isAsking ? missing : [];
  }
  if (phase !== "Progressing" && phase !== "Completed") return [];
  const ready = candidates.filter(({ isUnapproved }) => !isUnapproved).length;
  return ready >= maxUnavailable && missing.length > leastPlanned
    ? []
    : missing.slice(0, Math.max(leastPlanned, 2 * maxUnavailable));
}

export interface PlanGateInputs {
  readonly records: readonly GateRecord[];
  /** All members of the stage. */
  readonly members: readonly ClassedMember[];
  readonly subject: GateSubject;
  readonly nowMs: number;
}

/** A gate that is asked for again, about clusters that came late. */
interface LatePlan {
  /** Diffs that are not asked for, because they were rejected. */
  readonly rejected: ReadonlySet<string>;
}

/**
 * A record for the plan of what was not approved yet; undefined while members still have to be planned. Passed at once where nothing
 * would change. Of more diffs than one approval can be about it has the first: the others are asked for after it.
 */
export function startPlanGate(
  gate: StageGate,
  inputs: PlanGateInputs,
  late?: LatePlan,
): GateRecord | undefined {
  const { records, members, subject, nowMs } = inputs;
  const candidates = candidatesIn(members);
  const isMissing = candidates.some(({ member }) => member.plan === undefined);
  if (isMissing && late === undefined) return undefined;
  const approved = approvedDiffs(records, gate, nowMs);
  const plans = candidates.map(({ member }) => member.plan);
  const known = plans.flatMap((plan) => (plan?.kind === "known" ? [plan] : []));
  const isNew = ({ diff }: KnownMemberPlan) =>
    diff !== "" && !approved.has(diff) && late?.rejected.has(diff) !== true;
  const all = [...new Set(known.filter(isNew).map(({ diff }) => diff))].sort();
  const diffs = all.slice(0, maxApprovedDiffs);
  const asked = new Set(diffs);
  const changed = known.filter(({ diff }) => asked.has(diff));
  const number = 1 + (currentRecord(records, gate)?.plan?.number ?? 0);
  const record: GateRecord = {
    ...startGate(gate, subject, { nowMs, earlier: number - 1 }),
    digest: digestOf([subject.revision, subject.stage, subject.when, gate.name, diffs]),
    plan: {
      number,
      groups: diffs.length,
      changed: changed.length,
      unchanged: known.filter(({ diff }) => diff === "").length,
      failing: changed.filter(({ fails }) => fails).length,
      offline: members.filter(({ class: kind, member }) => isUnknown(kind, member.plan)).length,
      diffs,
    },
  };
  return diffs.length === 0
    ? ended(record, nowMs, {
        result: "Passed",
        reason: "Met",
        message:
          known.length === 0
            ? "no cluster could be asked: each is planned when its turn comes"
            : "nothing would change",
      })
    : record;
}

function isUnknown(kind: ClassedMember["class"], plan: MemberPlan | undefined): boolean {
  return kind === "offline" || kind === "paused" || plan?.kind === "unknown";
}

/** What has become of the plans of a stage that has begun. */
export interface LatePlans {
  /** The same one (by `===`) where nothing changes. */
  readonly records: readonly GateRecord[];
  /** A gate that was asked for late, and was not approved. */
  readonly failed: GateRecord | undefined;
}

export interface LatePlanInputs extends Omit<PlanGateInputs, "nowMs"> {
  readonly facts: GateFacts;
  readonly limits: Pick<StageLimits, "maxUnavailable">;
}

/**
 * The plans of clusters whose turn has come after the approval: judges what waits, and starts a Gate for diffs that were not asked for
 * yet. In a stage that is completed it has no deadline, and holds up nobody else.
 */
export function stepLatePlans(
  stage: RolloutStage,
  phase: StageStatus["phase"],
  inputs: LatePlanInputs,
): LatePlans {
  const { facts, members, limits } = inputs;
  let { records } = inputs;
  for (const gate of planGatesOf(stage)) {
    const current = currentRecord(records, gate);
    if (current?.result === "Waiting") {
      const judged = judgeGate(gate, current, facts);
      const next =
        judged === current && isObsolete(current, members) ? closed(current, facts) : judged;
      if (next !== current) records = records.map((each) => (each === current ? next : each));
      continue;
    }
    const needed = diffsIn(members);
    // What was rejected is not asked for again. In a stage that goes on somebody has resumed it since.
    const rejected = phase === "Completed" ? rejectedDiffs(records, gate) : new Set<string>();
    const approved = approvedDiffs(records, gate, facts.nowMs);
    if (![...needed].some((diff) => !approved.has(diff) && !rejected.has(diff))) continue;
    // One Gate about all of them, and not one for each answer.
    if (unplanned(stage, { phase, gates: [...records] }, members, limits).length > 0) continue;
    const kept = trimmed(records, gate, needed);
    if (kept.filter(({ name }) => name === gate.name).length >= mostRecords) continue;
    const about = { ...inputs, records, nowMs: facts.nowMs };
    const started = startPlanGate(gate, about, { rejected });
    if (started === undefined) continue;
    const { expiresAt: _, ...endless } = started;
    records = [...kept, phase === "Completed" ? endless : started];
  }
  const failed = planGatesOf(stage)
    .map((gate) => currentRecord(records, gate))
    .find((record) => record?.result === "Failed");
  return { records, failed };
}

/** Whether no member may need what is asked for: each one that waits has another diff by now. */
function isObsolete({ plan }: GateRecord, members: readonly ClassedMember[]): boolean {
  const asked = new Set(plan?.diffs);
  return members.every(
    ({ class: kind, member }) =>
      kind === "skipped" ||
      hasRevision(member) ||
      (member.plan?.kind === "known" && !asked.has(member.plan.diff)),
  );
}

/** Nothing was approved by that. What is needed again is asked for again. */
function closed(record: GateRecord, { nowMs }: Pick<GateFacts, "nowMs">): GateRecord {
  const message = "no cluster waits for these changes any more";
  return ended(record, nowMs, { result: "Passed", reason: "Obsolete", message });
}

/** The diffs of members that wait. */
function diffsIn(members: readonly ClassedMember[]): ReadonlySet<string> {
  return new Set(
    candidatesIn(members).flatMap(({ member: { plan } }) =>
      plan?.kind === "known" && plan.diff !== "" ? [plan.diff] : [],
    ),
  );
}

/** Diffs whose newest plan was rejected by somebody. */
function rejectedDiffs(records: readonly GateRecord[], { name }: StageGate): ReadonlySet<string> {
  const rejected = new Set<string>();
  for (const { plan, result, reason } of records.filter((record) => record.name === name))
    for (const diff of plan?.diffs ?? []) {
      if (result === "Failed" && reason === "Decided") rejected.add(diff);
      else rejected.delete(diff);
    }
  return rejected;
}

/** Without the oldest of a gate that nobody waits for. What has no longer a record may be asked for again. */
function trimmed(
  records: readonly GateRecord[],
  { name }: StageGate,
  needed: ReadonlySet<string>,
): readonly GateRecord[] {
  const own = records.filter((record) => record.name === name);
  const excess = Math.max(0, own.length + 1 - mostRecords);
  const outdated = own
    .filter(
      ({ result, plan }) => result !== "Waiting" && !plan?.diffs.some((diff) => needed.has(diff)),
    )
    .slice(0, excess);
  return records.filter((record) => !outdated.includes(record));
}
