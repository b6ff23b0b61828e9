/** A staged rollout as the dashboard shows it, without what depends on the rights of the user. Pure. */
import type { RolloutStage } from "@flotilla/shared/api";
import {
  type BundleRollout,
  type Gate,
  type GateRecord,
  maxNamed,
  type RolloutCounts,
  type StageStatus,
  type StoredDecision,
} from "@flotilla/shared/api/rollout";
import type {
  AppRollout,
  Rollout,
  RolloutGate,
  RolloutRecord,
  RolloutStageView,
  StagedRelease,
} from "@flotilla/shared/dashboard";
import { cutText } from "@flotilla/shared/text";

/** Decisions of one rollout in the history. */
const maxDecisions = 20;
const maxConfigChars = 200;
const maxConfigTexts = 10;

const noCounts: RolloutCounts = {
  total: 0,
  done: 0,
  inFlight: 0,
  failed: 0,
  pending: 0,
  offline: 0,
  paused: 0,
  skipped: 0,
  offSchedule: 0,
  brokenBefore: 0,
};

/** What a Gate waits for that people or controllers decide. */
export function isDecidable({ type, result }: Pick<GateRecord, "type" | "result">): boolean {
  return result === "Waiting" && (type === "Approval" || type === "External");
}

const endedPhases: ReadonlySet<string> = new Set([
  "Completed",
  "RolledBack",
  "Superseded",
  "Cancelled",
]);

/** Undefined for one that has ended: nothing is waited for. */
export function appRolloutOf(rollout: BundleRollout): AppRollout | undefined {
  const { status } = rollout;
  const { phase = "Progressing", reason, stage, message = "", since, stages = [] } = status ?? {};
  // Clusters that come late to one that is completed may wait for an approval of their own.
  const isLate = phase === "Completed" && reason === "GateWaiting";
  if (endedPhases.has(phase) && !isLate) return undefined;
  // Nothing but another selector ends a stage without clusters.
  const isWaiting =
    reason === "StageEmpty" || stages.some(({ gates = [] }) => gates.some(isDecidable));
  return {
    phase,
    ...(stage !== undefined && { stage }),
    message,
    ...(since !== undefined && { since }),
    decides: phase === "Halted" || ((phase === "Waiting" || isLate) && isWaiting),
  };
}

export interface RolloutInputs {
  readonly rollout: BundleRollout;
  /** The stages of the strategy, in order; empty: they are not known, and gates that have not begun are not shown. */
  readonly strategy: readonly RolloutStage[];
  /** The Gate of a record, where the user may see it. */
  readonly gateOf: (record: GateRecord) => Gate | undefined;
  readonly missing: (stage: string) => RolloutStageView["missing"];
  readonly windows: (stage: string) => RolloutStageView["windows"];
}

export function rolloutOf(inputs: RolloutInputs): Omit<Rollout, "actions"> {
  const { metadata, spec, status } = inputs.rollout;
  const { phase = "Progressing", reason, message = "", since, startedAt, endedAt } = status ?? {};
  const { next, unassigned, kept, stages = [] } = status ?? {};
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    number: spec.number,
    ...(spec.version && { version: spec.version }),
    phase,
    ...(reason !== undefined && { reason }),
    message,
    ...(since !== undefined && { since }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...countsOf(status?.clusters ?? noCounts),
    stages: stages.map((stage) => stageOf(stage, inputs)),
    ...(next !== undefined && {
      next: { since: next.since, ...(next.version && { version: next.version }) },
    }),
    ...(unassigned !== undefined && unassigned.count > 0 && { unassigned: namedOf(unassigned) }),
    ...(kept !== undefined && kept.count > 0 && { kept: namedOf(kept) }),
  };
}

function countsOf(counts: RolloutCounts) {
  const { total, done, inFlight, failed, pending, offline, paused, skipped, offSchedule } = counts;
  return { total, done, inFlight, failed, pending, offline, paused, skipped, offSchedule };
}

function namedOf({ count, first }: { readonly count: number; readonly first: readonly string[] }) {
  return { count, first: first.slice(0, maxNamed) };
}

function stageOf(stage: StageStatus, inputs: RolloutInputs): RolloutStageView {
  const { name, phase, startedAt, completedAt, gates = [], failing = [] } = stage;
  const { before = [], after = [] } = inputs.strategy.find((each) => each.name === name) ?? {};
  // The newest record of each name counts: one that failed is asked for again after a resume.
  const newest = gates.filter(
    (gate, index) => gates.findLastIndex((each) => each.name === gate.name) === index,
  );
  const begun = new Set(newest.map((gate) => gate.name));
  const later = [
    ...before.map((gate) => [gate, "Before"] as const),
    ...after.map((gate) => [gate, "After"] as const),
  ]
    .filter(([gate]) => !begun.has(gate.name) && phase !== "Completed" && phase !== "Skipped")
    .map(([gate, when]) => laterGate(gate, when));
  return {
    name,
    phase,
    ...countsOf(stage),
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    gates: [...newest.map((record) => gateOf(record, inputs)), ...later],
    failing: failing.slice(0, maxNamed),
    missing: inputs.missing(name),
    windows: inputs.windows(name),
  };
}

function laterGate(
  gate: NonNullable<RolloutStage["before"]>[number],
  when: GateRecord["when"],
): RolloutGate {
  const types = [
    ["soak", "Soak"],
    ["test", "Test"],
    ["window", "Window"],
    ["approval", "Approval"],
    ["lifecycle", "Lifecycle"],
    ["rollout", "Rollout"],
  ] as const;
  const type = types.find(([field]) => gate[field] !== undefined)?.[1] ?? "External";
  return { name: gate.name, when, type, result: "Waiting", actions: [] };
}

function gateOf(record: GateRecord, { gateOf: find }: RolloutInputs): RolloutGate {
  const { name, when, type, result, startedAt, expiresAt, soakingSince, decision } = record;
  const gate = find(record);
  const config = Object.entries(gate?.spec.config ?? {}).slice(0, maxConfigTexts);
  return {
    name,
    when,
    type,
    result,
    startedAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(soakingSince !== undefined && { soakingSince }),
    ...(decision !== undefined && { decision: decisionOf(decision) }),
    gate: record.gate,
    ...(record.uid !== undefined && { uid: record.uid }),
    digest: record.digest,
    ...(gate?.spec.version && { version: gate.spec.version }),
    ...(gate !== undefined && { clusters: namedOf(gate.spec.clusters) }),
    ...(gate?.spec.plan !== undefined && { plan: gate.spec.plan }),
    ...(config.length > 0 && {
      config: Object.fromEntries(config.map(([key, text]) => [key, cutText(text, maxConfigChars)])),
    }),
    actions: [],
  };
}

function decisionOf({ result, by, verified, at, message }: StoredDecision) {
  return { result, by, at, verified: by === "" || verified !== false, ...(message && { message }) };
}

export function recordOf({ metadata, spec, status }: BundleRollout): RolloutRecord {
  const { phase = "Progressing", message = "", startedAt, endedAt, clusters } = status ?? {};
  const decisions = (status?.stages ?? []).flatMap((stage) =>
    (stage.gates ?? []).flatMap(({ name, decision }) =>
      decision === undefined || decision.by === ""
        ? []
        : [{ ...decisionOf(decision), stage: stage.name, gate: name }],
    ),
  );
  return {
    name: metadata.name,
    number: spec.number,
    ...(spec.version && { version: spec.version }),
    phase,
    message,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    done: clusters?.done ?? 0,
    total: clusters?.total ?? 0,
    decisions: decisions.slice(0, maxDecisions),
  };
}

/** `stage`: of the cluster; undefined: it is in none, null: not known. `deploymentID`: what it is to have. */
export function stagedReleaseOf(
  rollout: BundleRollout,
  {
    cluster,
    stage,
    deploymentID,
  }: {
    readonly cluster: string;
    readonly stage: string | undefined | null;
    readonly deploymentID: string;
  },
): StagedRelease {
  const { spec, status } = rollout;
  const named = { number: spec.number, ...(typeof stage === "string" && { stage }) };
  const hasRevision = spec.targets.some((target) => target.deploymentID === deploymentID);
  if (hasRevision || status === undefined) return named;
  if (endedPhases.has(status.phase) && status.phase !== "Completed") return named;
  return { ...named, waits: waitsOf(rollout, cluster, stage) };
}

function waitsOf(
  { spec, status }: BundleRollout,
  cluster: string,
  stage: string | undefined | null,
): string {
  const { phase, stage: current, stages = [], message = "" } = status ?? {};
  if (spec.skip?.includes(cluster) === true) return "it is skipped, and keeps what it has";
  if (stage === undefined) return "it is in no stage, and keeps what it has";
  const own = stages.find((each) => each.name === stage);
  if (own?.phase === "Skipped") return `stage ${own.name} is skipped`;
  if (phase === "RollingBack") return message;
  if (own?.phase === "Pending" && current !== undefined && current !== own.name)
    return `stage ${own.name} comes after stage ${current}: ${message}`;
  return message === "" ? "it is promoted within the limits of its stage" : message;
}
