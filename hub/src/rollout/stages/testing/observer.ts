/** Sees every pass of a history, and computes what may be promoted by itself, from what was stored before it. */
import assert from "node:assert/strict";
import { hasRevision } from "../member.ts";
import type { Promoted } from "../staged-step.ts";
import { createGateCheck } from "./gate-invariants.ts";
import {
  checkRolledBack,
  checkSoaks,
  checkStage,
  checkUnassigned,
  checkWindows,
} from "./invariants.ts";
import { createMoveCheck } from "./moves.ts";
import { checkApproved, checkAskedOnce, checkRefused } from "./plan-invariants.ts";
import { isTargetOf, type Pass, type Simulation } from "./simulation.ts";
import { checkCounts, checkRepeated, checkSentence } from "./status-invariants.ts";

export interface Observer {
  readonly onPass: (pass: Pass) => void;
  readonly settled: () => void;
  readonly counts: () => ObservedCounts;
}

export interface ObservedCounts {
  readonly promoted: number;
  /** How many of them by reports of single clusters. */
  readonly promotedByReports: number;
  /** Promotions that an agent has refused. */
  readonly refused: number;
  /** Rollouts with a breach that was stored: after it nothing gets the revision until somebody resumes it. */
  readonly breached: number;
  /** Passes in which clusters were in no stage. */
  readonly unassigned: number;
  /** Gates of each type that have passed in some pass. */
  readonly passed: ReadonlySet<string>;
}

export function createObserver(simulation: Simulation): Observer {
  const moves = createMoveCheck(simulation);
  const gates = createGateCheck(simulation);
  const refusals = new Set<string>();
  const passed = new Set<string>();
  const breached = new Set<string>();
  const repeats = createRepeatCheck();
  /** Skipped in a rollout that was taken back when that ended: what is not skipped any more then keeps what it has. */
  const skippedAtEnd = new Map<string, readonly string[]>();
  let passes = 0;
  let total = 0;
  let unassigned = 0;

  function onPass(pass: Pass): void {
    const { inputs, result, actual } = pass;
    const seen = asTheyAre(pass);
    const { promoted } = seen;
    for (const { key, promotion, refused } of actual)
      if (refused !== undefined) refusals.add(`${key} ${promotion?.at}`);
    for (const { gates: records = [] } of result.status.stages ?? [])
      for (const { type, result: end } of records) if (end === "Passed") passed.add(type);
    if (result.status.unassigned !== undefined) unassigned += 1;
    passes += 1;
    // Twice the work: some of them are enough.
    if (passes % 3 === 0) checkRepeated(pass, simulation);
    const { stored, name } = inputs;
    if (stored?.breach !== undefined) breached.add(name);
    const { phase } = result.status;
    if (phase === "RolledBack" && stored?.phase !== phase)
      skippedAtEnd.set(
        name,
        inputs.members.filter(({ isSkipped }) => isSkipped).map(({ key }) => key),
      );
    checkCounts(pass, simulation);
    checkSentence(pass);
    for (const each of promoted) checkPromotion(pass, each);
    if (promoted.length > 0) {
      checkUnassigned(seen);
      for (const stage of inputs.strategy.stages ?? []) {
        checkStage(seen, stage);
        checkApproved(seen, stage, simulation);
      }
    }
    repeats.onPass(seen);
    gates.onPass(pass);
    checkSoaks(inputs, result.status);
    checkAskedOnce(inputs, result.status);
    checkRefused(pass);
    checkWindows(pass);
    moves.onPass(pass);
    total += promoted.length;
  }

  function checkPromotion({ inputs }: Pass, { member, isRollback }: Promoted): void {
    const { stored, spec } = inputs;
    assert.ok(stored !== undefined, "4: promoted before anything was stored");
    assert.ok(!member.isPaused && !member.isSkipped, "5: paused or skipped");
    assert.equal(member.refused, undefined, "7: promoted again before it was taken back");
    assert.equal(inputs.isPaused, false, "5: the Bundle is paused");
    assert.notEqual(spec.state, "Halted", "6: halted by a person");
    const cluster = simulation.clusters.get(member.key);
    assert.ok(
      cluster !== undefined && isTargetOf(simulation.desired, cluster),
      "5: no target matches it any more",
    );
    assert.ok(isTargetOf(spec.revision, cluster), "5: no target of the revision matches it");
    if (isRollback) {
      assert.match(stored.phase, /^Roll(ing|ed)Back$/, "6: taken back before that was stored");
      assert.ok(hasRevision(member) && member.promotion?.from !== "", "9: had nothing before");
    } else {
      assert.ok(!hasRevision(member), "7: promoted twice");
      assert.equal(stored.breach, undefined, "6: a breach is stored");
      assert.ok(["Progressing", "Waiting", "Completed"].includes(stored.phase), "6: not running");
      assert.ok(member.isConnected && !member.isOffSchedule, "5: offline or off schedule");
      assert.equal(spec.state ?? "Running", "Running", "6: a person has stopped it");
    }
  }

  function settled(): void {
    const rollout = simulation.rollouts.at(-1);
    if (rollout?.status?.phase !== "RolledBack") return;
    checkRolledBack(simulation, new Set(skippedAtEnd.get(rollout.metadata.name)));
  }

  return {
    onPass,
    settled,
    counts: () => ({
      promoted: total,
      promotedByReports: moves.promoted(),
      refused: refusals.size,
      breached: breached.size,
      unassigned,
      passed,
    }),
  };
}

/** What is promoted is judged by the clusters as they are, whatever the step took them for. */
function asTheyAre({ inputs, result, promoted, actual }: Pass): Pass {
  const byKey = new Map(actual.map((member) => [member.key, member]));
  const members = promoted.map((each) => ({
    ...each,
    member: byKey.get(each.member.key) ?? each.member,
  }));
  return { inputs: { ...inputs, members: actual }, result, promoted: members, actual };
}

/** One promotion for each revision and one for each rollback, unless its agent refused it or another rollout came between: 7. */
function createRepeatCheck(): Pick<Observer, "onPass"> {
  /** By key: the last rollout that gave a cluster something, and in which directions. */
  const last = new Map<string, { readonly rollout: string; readonly directions: Set<boolean> }>();
  return {
    onPass({ inputs: { name }, promoted, actual }) {
      for (const { key, refused, desired } of actual)
        if (refused !== undefined || desired === "") last.delete(key);
      for (const { member, isRollback } of promoted) {
        const known = last.get(member.key);
        const own =
          known?.rollout === name ? known : { rollout: name, directions: new Set<boolean>() };
        assert.ok(!own.directions.has(isRollback), "7: promoted again by the same rollout");
        own.directions.add(isRollback);
        last.set(member.key, own);
      }
    },
  };
}
