/** What must hold for approvals of plans, from what agents have answered and what is stored: invariant 14. */
import assert from "node:assert/strict";
import type { RolloutStage, StageGate } from "@flotilla/shared/api";
import type {
  BundleRolloutStatus,
  GateDecision,
  GateRecord,
  StageStatus,
} from "@flotilla/shared/api/rollout";
import { noChange } from "@flotilla/shared/plan/approved";
import { parseTime } from "@flotilla/shared/time";
import { digestOf } from "../gate.ts";
import {
  becomeReady,
  diffIn,
  minutes,
  type Pass,
  type SimulatedCluster,
  type Simulation,
} from "./simulation.ts";

const freshMs = 15 * minutes;

/** Nothing is promoted with a diff that nobody has approved, and nothing whose plan is not known or does not fit any more. */
export function checkApproved(
  { inputs, promoted }: Pass,
  stage: RolloutStage,
  { plans, decisions }: Pick<Simulation, "plans" | "decisions">,
): void {
  const { stored, assignment, nowMs, spec } = inputs;
  const state = stored?.stages?.find(({ name }) => name === stage.name);
  for (const gate of plannedGates(stage))
    for (const { member, isRollback, planned } of promoted) {
      if (isRollback || assignment.get(member.key) !== stage.name) continue;
      const plan = plans.get(member.key);
      assert.ok(plan?.diff !== undefined, "14: promoted without a plan");
      assert.equal(plan.content, member.content, "14: the plan is of another content");
      assert.equal(plan.applied, member.applied, "14: something else was installed by then");
      assert.ok(nowMs - plan.atMs <= freshMs, "14: the plan is old");
      assert.equal(plan.refusals, member.promotion?.refused ?? 0, "14: the plan was refused");
      const verified = gate.approval?.verify === true ? plan.diff || noChange : undefined;
      assert.equal(planned, verified, "14: its agent verifies something else");
      const isAble = planned === undefined || member.cannotVerify === undefined;
      assert.ok(isAble, "14: promoted to an agent that verifies nothing");
      if (plan.diff === "") continue;
      const approved = (state?.gates ?? []).filter((record) => isValid(record, gate, nowMs));
      for (const record of approved)
        checkDigest(record, [spec.revision, stage.name], decisions.get(record.uid ?? ""));
      const diffs = approved.flatMap((record) => record.plan?.diffs ?? []);
      assert.ok(diffs.includes(plan.diff), "14: promoted with a diff that was not approved");
    }
}

/** What an agent has refused counts neither as a failure nor as promoted. */
export function checkRefused({ inputs: { members }, result: { parts } }: Pass): void {
  const all = parts.flatMap((part) => part.members);
  const classes = new Map(all.map((each) => [each.member.key, each.class]));
  for (const { key, refused, desired } of members) {
    if (refused === undefined) continue;
    assert.notEqual(desired, refused, "14: counts as promoted");
    assert.notEqual(classes.get(key), "failed", "14: counts as a failure");
  }
}

/**
 * The agent of a cluster applies what is desired. Where its stage verifies plans, what changes by that is what somebody approved, whatever
 * others have changed since it was promoted.
 */
export function applyVerified({ approved }: Simulation, cluster: SimulatedCluster): void {
  const { applied, desired, promotion } = cluster;
  const diff = diffIn(cluster, desired);
  becomeReady(cluster);
  if (promotion?.planned === undefined || cluster.applied === applied) return;
  const isApproved = approved.has(`${promotion.rollout} ${diff}`);
  assert.ok(
    diff === "" || (diff === promotion.planned && isApproved),
    "14: an agent changed what nobody has approved",
  );
}

function plannedGates({ before }: RolloutStage): readonly StageGate[] {
  return (before ?? []).filter(({ approval }) => approval?.plan === true);
}

/** What was decided is about exactly these diffs, and somebody decided it. */
function checkDigest(
  { digest, name, plan }: GateRecord,
  subject: readonly string[],
  decision: GateDecision | undefined,
): void {
  const { diffs = [] } = plan ?? {};
  const expected = digestOf([...subject, "Before", name, diffs]);
  assert.equal(digest, expected, "14: the digest is of something else");
  if (diffs.length === 0) return;
  assert.equal(decision?.result, "Passed", "14: nobody has approved it");
  assert.equal(decision.digest, digest, "14: decided about something else");
}

function isValid(
  { name, result, reason, decision }: GateRecord,
  gate: StageGate,
  nowMs: number,
): boolean {
  const hours = gate.approval?.validFor === "3h" ? 3 : 7 * 24;
  return (
    name === gate.name &&
    result === "Passed" &&
    reason !== "Obsolete" &&
    nowMs < (parseTime(decision?.at) ?? 0) + hours * 60 * minutes
  );
}

/** A new Gate asks for nothing that was approved and still holds, that waits, or that was rejected. */
export function checkAskedOnce(
  { stored, strategy, nowMs }: Pass["inputs"],
  status: BundleRolloutStatus,
): void {
  for (const stage of strategy.stages ?? [])
    for (const gate of plannedGates(stage)) {
      const before = stageIn(stored, stage.name);
      const known = (before?.gates ?? []).filter(({ name }) => name === gate.name);
      const numbers = new Set(known.map(({ plan }) => plan?.number));
      const fresh = (stageIn(status, stage.name)?.gates ?? []).filter(
        ({ name, plan }) => name === gate.name && !numbers.has(plan?.number),
      );
      for (const { plan } of fresh) {
        const answered = known.filter(
          (record) =>
            record.result === "Waiting" ||
            isValid(record, gate, nowMs) ||
            (isRejected(record) && !isResumed(before)),
        );
        const diffs = new Set(answered.flatMap((record) => record.plan?.diffs ?? []));
        const twice = (plan?.diffs ?? []).filter((diff) => diffs.has(diff));
        assert.deepEqual(twice, [], "14: asked twice for the same diffs");
      }
    }
}

function stageIn(status: BundleRolloutStatus | undefined, name: string): StageStatus | undefined {
  return status?.stages?.find((each) => each.name === name);
}

function isRejected({ result, reason }: GateRecord): boolean {
  return result === "Failed" && reason === "Decided";
}

/** A person goes on after the rejection: the gate is asked for again. */
function isResumed(stage: StageStatus | undefined): boolean {
  return stage?.phase !== "Completed";
}
