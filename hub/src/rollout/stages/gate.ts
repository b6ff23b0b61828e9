/** The gates of a stage: what is stored of each, and how it ends. Pure. */
import { createHash } from "node:crypto";
import { type GateType, gateTypes, type StageGate } from "@flotilla/shared/api";
import type { GateDecision, GateRecord } from "@flotilla/shared/api/rollout";
import { gateDecisionPolicy } from "@flotilla/shared/api/rollout/admission";
import { canonicalJson } from "@flotilla/shared/json";
import { cutText } from "@flotilla/shared/text";
import { formatTimeMs, parseGoDuration, parseTime } from "@flotilla/shared/time";
import { type WindowFacts, windowsAt } from "./stage-windows.ts";

/** What gates are decided by. The windows are the namespace's: a gate passes when its Schedule is open. */
export interface GateFacts extends WindowFacts {
  readonly nowMs: number;
  /** Every member that was promoted is done, but for failures that are tolerated. */
  readonly isSettled: boolean;
  /** The tests of the members that are done. */
  readonly tests: "passed" | "failed" | "running";
  /** Whether the rollout of another app has completed a stage, or all. */
  readonly isRolledOut: (app: NonNullable<StageGate["rollout"]>) => boolean;
  /** Why it cannot come so far, as a sentence; undefined: it can. */
  readonly awaitedProblem: (app: NonNullable<StageGate["rollout"]>) => string | undefined;
  /** The decision in the Gate with the UID of the record, as somebody wrote it. */
  readonly decisionOf: (record: GateRecord) => FoundDecision | undefined;
  /** Whether a name that the API server has not checked is enough for an approval. */
  readonly acceptsUnverified: boolean;
}

/** A decision, and whether the API server has checked who made it. */
export interface FoundDecision extends GateDecision {
  readonly verified: boolean;
}

/** What a gate is about. */
export interface GateSubject {
  /** The BundleRollout. */
  readonly rollout: string;
  readonly revision: string;
  readonly stage: string;
  readonly when: GateRecord["when"];
  /** What decides which clusters the stage takes. */
  readonly selection?: readonly unknown[];
}

/** Without `timeout`. A soak and a window have no limit. */
const defaultTimeoutMs = 24 * 3_600_000;

/** Characters of a name of a label's value, which a Gate's name is, too. */
const longestName = 63;

/** The type of a gate; undefined: it has none, or several. */
export function gateTypeOf(gate: StageGate): GateType | undefined {
  const types = Object.entries(gateTypes).filter(
    ([field]) => gate[field as keyof typeof gateTypes] !== undefined,
  );
  const [first] = types;
  return types.length === 1 ? first?.[1] : undefined;
}

/** A gate that begins to be waited for. `earlier`: how often it was asked for before; one is asked for again after a resume. */
export function startGate(
  gate: StageGate,
  subject: GateSubject,
  { nowMs, earlier }: { readonly nowMs: number; readonly earlier: number },
): GateRecord {
  const type = gateTypeOf(gate) ?? "External";
  const timeoutMs =
    gate.timeout === undefined
      ? type === "Soak" || type === "Window"
        ? undefined
        : defaultTimeoutMs
      : parseGoDuration(gate.timeout);
  return {
    name: gate.name,
    when: subject.when,
    type,
    result: "Waiting",
    ...(earlier > 0 && { attempt: earlier + 1 }),
    gate: gateName(subject, gate.name, earlier),
    digest: gateDigest(subject, gate.name),
    startedAt: formatTimeMs(nowMs),
    ...(timeoutMs !== undefined && { expiresAt: formatTimeMs(nowMs + timeoutMs) }),
  };
}

/** What a decision is about: the revision, the gate, and the clusters that its stage selects. */
export function gateDigest(
  { revision, stage, when, selection = [] }: Omit<GateSubject, "rollout">,
  gate: string,
): string {
  return digestOf([revision, stage, when, gate, selection]);
}

/** `<rollout>-<stage>-<gate>`, shortened with a digest of the whole. */
function gateName({ rollout, stage }: GateSubject, gate: string, earlier: number): string {
  const name = `${rollout}-${stage}-${gate}${earlier === 0 ? "" : `-${earlier + 1}`}`;
  if (name.length <= longestName) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, longestName - hash.length - 1).replace(/[-.]+$/, "")}-${hash}`;
}

export function digestOf(data: unknown): string {
  return `sha256:${createHash("sha256").update(canonicalJson(data)).digest("hex")}`;
}

/** The record after what is known now; the same one (by `===`) where nothing changes. What has ended stays as it is. */
export function judgeGate(gate: StageGate, record: GateRecord, facts: GateFacts): GateRecord {
  if (record.result !== "Waiting") return record;
  const { nowMs } = facts;
  const expiresAtMs = parseTime(record.expiresAt);
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs)
    return ended(record, nowMs, {
      result: "Failed",
      reason: "Expired",
      message: `no decision within ${gate.timeout ?? "24h"}`,
    });
  if (gate.soak !== undefined) return judgeSoak(gate.soak.for, record, facts);
  if (gate.test !== undefined) {
    if (facts.tests === "running") return record;
    const message = `the tests of the chart have ${facts.tests}`;
    const result = facts.tests === "passed" ? "Passed" : "Failed";
    return ended(record, nowMs, { result, reason: "Met", message });
  }
  if (gate.window !== undefined)
    return windowsAt([gate.window], facts, nowMs).isOpen
      ? ended(record, nowMs, { result: "Passed", reason: "Met", message: "the window is open" })
      : record;
  if (gate.rollout !== undefined) {
    const message = `the rollout of ${gate.rollout.kind} ${gate.rollout.name} has come so far`;
    return facts.isRolledOut(gate.rollout)
      ? ended(record, nowMs, { result: "Passed", reason: "Met", message })
      : record;
  }
  const decision = record.uid === undefined ? undefined : facts.decisionOf(record);
  if (decision === undefined || decision.digest !== record.digest) return record;
  const { result, by, message, verified } = decision;
  const isDoubtful = record.type === "Approval" && result === "Passed" && !verified;
  if (isDoubtful && !facts.acceptsUnverified)
    return ended(record, nowMs, {
      result: "Failed",
      reason: "Unverified",
      by,
      verified,
      message: unverifiedText,
    });
  return ended(record, nowMs, { result, reason: "Decided", by, verified, message });
}

/** What a person can do about an approval by a name that was not checked. */
export const unverifiedText = `the API server has not checked who approved: install the ValidatingAdmissionPolicy ${gateDecisionPolicy}, which the chart flotilla-crds has and which needs Kubernetes 1.30, and resume; or set unverifiedApprovals in the chart flotilla`;

/** Measured from a time that is stored here: a condition may have its time from another content. */
function judgeSoak(duration: string, record: GateRecord, facts: GateFacts): GateRecord {
  const { soakingSince, ...others } = record;
  if (!facts.isSettled) return soakingSince === undefined ? record : others;
  const sinceMs = parseTime(soakingSince);
  if (sinceMs === undefined) return { ...record, soakingSince: formatTimeMs(facts.nowMs) };
  const isOver = facts.nowMs - sinceMs >= (parseGoDuration(duration) ?? 0);
  if (!isOver) return record;
  const message = `nothing has failed for ${duration}`;
  return ended(record, facts.nowMs, { result: "Passed", reason: "Met", message });
}

interface End {
  readonly result: "Passed" | "Failed";
  readonly reason: "Decided" | "Expired" | "Met" | "Obsolete" | "Unverified";
  readonly by?: string;
  /** Absent: nobody but the hub decided. */
  readonly verified?: boolean;
  readonly message?: string | undefined;
}

const messageChars = 512;

/** A record of a gate that has passed or failed. */
export function ended(record: GateRecord, nowMs: number, end: End): GateRecord {
  const { result, reason, by = "", verified, message = "" } = end;
  return {
    ...record,
    result,
    reason,
    decision: {
      result,
      by: cutText(by, messageChars),
      ...(verified !== undefined && { verified }),
      at: formatTimeMs(nowMs),
      digest: record.digest,
      ...(message !== "" && { message: cutText(message, messageChars) }),
    },
  };
}

/** When a gate may end by time alone, ms since 1970. */
export function gateWakesAt(
  gate: StageGate,
  record: GateRecord,
  facts: WindowFacts & Pick<GateFacts, "nowMs">,
): number | undefined {
  if (record.result !== "Waiting") return undefined;
  const opensAtMs = gate.window && windowsAt([gate.window], facts, facts.nowMs).changesAtMs;
  const soakingSinceMs = parseTime(record.soakingSince);
  const soaksUntilMs =
    gate.soak === undefined || soakingSinceMs === undefined
      ? undefined
      : soakingSinceMs + (parseGoDuration(gate.soak.for) ?? 0);
  return earliest([soaksUntilMs, opensAtMs, parseTime(record.expiresAt)]);
}

/** The earliest of these times; undefined without any. */
export function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The record of a gate that counts: the newest of its name. */
export function currentRecord(
  records: readonly GateRecord[] | undefined,
  { name }: Pick<StageGate, "name">,
): GateRecord | undefined {
  return records?.findLast((record) => record.name === name);
}

/** The gates after a halt, in which nobody saw whether a soak was interrupted: it starts over. */
export function restartSoaks(gates: readonly GateRecord[]): readonly GateRecord[] {
  return gates.map((record) => {
    const { soakingSince, ...others } = record;
    return record.result === "Waiting" && soakingSince !== undefined ? others : record;
  });
}

/** The gates after a pause: what was waited for stood still. */
export function shiftGates(gates: readonly GateRecord[], byMs: number): readonly GateRecord[] {
  const later = (time: string | undefined) => {
    const atMs = parseTime(time);
    return atMs === undefined ? undefined : formatTimeMs(atMs + byMs);
  };
  return gates.map((record) => {
    if (record.result !== "Waiting") return record;
    const [expiresAt, soakingSince] = [later(record.expiresAt), later(record.soakingSince)];
    return {
      ...record,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(soakingSince !== undefined && { soakingSince }),
    };
  });
}
