/** What must hold for gates, and for a stage that comes further, computed in another way than the engine does. */
import assert from "node:assert/strict";
import type { RolloutStage, StageGate } from "@flotilla/shared/api";
import type { BundleRolloutStatus, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { parseTime } from "@flotilla/shared/time";
import { isDone, isInFlight, isPending } from "./invariants.ts";
import { minutes, type Pass, type Simulation } from "./simulation.ts";

export interface GateCheck {
  readonly onPass: (pass: Pass) => void;
}

/** Somebody may edit a strategy in mid rollout: a stage has the gates with which it began, or was completed. */
export function createGateCheck(simulation: Simulation): GateCheck {
  /** By rollout and stage; null: every cluster had the revision when it began. */
  const passed = new Map<string, readonly StageGate[] | null>();

  function checkTransitions({ inputs, result }: Pass): void {
    const { stored, strategy, name } = inputs;
    const isAdopted = stored === undefined && result.status.phase === "Completed";
    for (const state of result.status.stages ?? []) {
      const before = stageIn(stored, state.name);
      const stage = strategy.stages?.find((each) => each.name === state.name);
      if (stage === undefined || before?.phase === state.phase) continue;
      const key = `${name} ${state.name}`;
      if (isAdopted) {
        passed.set(`${key} Before`, null).set(`${key} After`, null);
        continue;
      }
      if (state.phase === "Progressing") {
        assertPassed(state, stage.before ?? []);
        passed.set(`${key} Before`, stage.before ?? []);
      }
      if (before?.phase === "Progressing") checkPromoted(inputs, stage, state.phase);
      if (state.phase === "Completed") {
        assertPassed(state, stage.after ?? []);
        passed.set(`${key} After`, stage.after ?? []);
      }
      if (state.phase === "Skipped") checkSkipped(inputs, stage);
    }
  }

  function checkPromotions({ inputs, promoted }: Pass): void {
    const { stored, assignment, name } = inputs;
    for (const { member, isRollback } of promoted) {
      const stage = assignment.get(member.key);
      if (isRollback || stage === undefined) continue;
      const state = stageIn(stored, stage);
      const gates = (when: string) => passed.get(`${name} ${stage} ${when}`);
      const [before, after] = [gates("Before"), gates("After")];
      if (before === null) continue;
      assert.ok(state !== undefined && before !== undefined, "4: its beginning is not stored");
      // A plan is approved again for what comes late: see plan-invariants.ts.
      assertPassed(
        state,
        before.filter(({ approval }) => approval?.plan !== true),
      );
      if (state.phase === "Completed") assertPassed(state, after ?? []);
    }
  }

  return {
    onPass(pass) {
      checkEnds(pass, simulation);
      checkTransitions(pass);
      checkPromotions(pass);
    },
  };
}

function stageIn(status: BundleRolloutStatus | undefined, name: string): StageStatus | undefined {
  return status?.stages?.find((each) => each.name === name);
}

/** All are passed. Of an approval of plans one is, which others may follow that are about clusters which came late. */
function assertPassed({ gates = [] }: StageStatus, wanted: readonly StageGate[]): void {
  for (const { name, approval } of wanted) {
    const own = gates.filter((record) => record.name === name);
    const isPassed =
      approval?.plan === true
        ? own.some(({ result }) => result === "Passed")
        : own.at(-1)?.result === "Passed";
    assert.ok(isPassed, "4: a gate is not stored as passed");
  }
}

/** A stage that has promoted its clusters: none is left, and enough of them are done. */
function checkPromoted(
  inputs: Pass["inputs"],
  stage: RolloutStage,
  phase: StageStatus["phase"],
): void {
  if (phase !== "Completed" && phase !== "Soaking" && phase !== "Verifying") return;
  const own = inputs.members.filter(({ key }) => inputs.assignment.get(key) === stage.name);
  assert.ok(!own.some((member) => isInFlight(member, inputs)), "3: through with one in flight");
  assert.ok(!own.some((member) => isPending(member, inputs)), "3: through with one that waits");
  const done = own.filter((member) => !member.isSkipped && isDone(member));
  assert.ok(done.length >= (stage.minSuccess ?? 1), "3: through without enough that are done");
}

/** Passed over because somebody asked for it, or because nothing is there. */
function checkSkipped(
  { spec, members, assignment, strategy }: Pass["inputs"],
  stage: RolloutStage,
): void {
  if (spec.skipStages?.includes(stage.name) === true) return;
  const own = members.filter(({ key }) => assignment.get(key) === stage.name);
  assert.ok(
    own.every(({ isSkipped }) => isSkipped),
    "3: a stage with clusters is passed over",
  );
  const isLast = strategy.stages?.at(-1) === stage;
  const mayBeEmpty = own.length > 0 || isLast || stage.allowEmpty === true;
  assert.ok(mayBeEmpty, "3: an empty stage is passed over");
}

/** A gate ends by what it waits for, and not before that is so. */
function checkEnds({ inputs, result }: Pass, simulation: Simulation): void {
  for (const { name, gates = [] } of result.status.stages ?? []) {
    const stage = inputs.strategy.stages?.find((each) => each.name === name);
    const known = stageIn(inputs.stored, name)?.gates ?? [];
    for (const record of gates) {
      const before = known.find(({ gate }) => gate === record.gate);
      const gate = [...(stage?.before ?? []), ...(stage?.after ?? [])].find(
        (each) => each.name === record.name,
      );
      checkSoak(record, before, inputs);
      const isShifted = inputs.stored?.reason === "Paused";
      const isSame = before === undefined || before.expiresAt === record.expiresAt;
      assert.ok(isSame || isShifted, "4: its deadline has moved");
      if (before === undefined) {
        // A plan without changes needs nobody.
        const isOpen = record.result === "Waiting" || record.plan !== undefined;
        assert.ok(isOpen, "4: a gate has ended at once");
      } else if (before.result !== "Waiting") {
        const hasChanged = before.result !== record.result;
        assert.ok(!hasChanged, "4: a gate that has ended ends in another way");
      } else if (record.result !== "Waiting" && gate !== undefined)
        checkEnd({ before, record, gate, stage: name }, inputs, simulation);
    }
  }
}

/** Since when it soaks is written here, and moves only while everything stands still. */
function checkSoak(
  { result, soakingSince }: GateRecord,
  before: GateRecord | undefined,
  { nowMs, stored }: Pass["inputs"],
): void {
  if (soakingSince === undefined || soakingSince === before?.soakingSince) return;
  const [since, earlier] = [parseTime(soakingSince), parseTime(before?.soakingSince)];
  assert.equal(result, "Waiting", "4: soaked since no time that is stored");
  if (earlier === undefined) assert.equal(since, nowMs, "4: soaks since another time than now");
  else
    assert.ok(stored?.reason === "Paused" && (since ?? 0) > earlier, "4: the soak began earlier");
}

interface End {
  readonly before: GateRecord;
  readonly record: GateRecord;
  readonly gate: StageGate;
  readonly stage: string;
}

function checkEnd(
  { before, record, gate, stage }: End,
  inputs: Pass["inputs"],
  { decisions, isOtherRolledOut }: Simulation,
): void {
  const { nowMs, members, assignment } = inputs;
  const expiresAtMs = parseTime(before.expiresAt) ?? Number.POSITIVE_INFINITY;
  if (record.reason === "Expired") {
    assert.ok(record.result === "Failed" && nowMs >= expiresAtMs, "4: expired before its time");
    return;
  }
  if (record.reason === "Obsolete") return;
  const isShifted = inputs.stored?.reason === "Paused";
  assert.ok(nowMs < expiresAtMs || isShifted, "4: ended after its time was over");
  if (gate.soak !== undefined) {
    const since = parseTime(before.soakingSince);
    assert.ok(since !== undefined, "4: soaked since no time that is stored");
    const forMs = (gate.soak.for === "30m" ? 30 : 10) * minutes;
    assert.ok(nowMs - since >= forMs, "4: soaked too short");
  } else if (gate.test !== undefined) {
    const own = members.filter(({ key }) => assignment.get(key) === stage);
    const results = own.filter((member) => isDone(member) && !member.isSkipped);
    const isPassed = results.length > 0 && results.every(({ testsPassed }) => testsPassed === true);
    assert.equal(record.result === "Passed", isPassed, "4: the tests say something else");
  } else if (gate.rollout !== undefined)
    assert.ok(isOtherRolledOut, "4: the other app has not come so far");
  else if (gate.window === undefined) {
    const decision = decisions.get(before.uid ?? "");
    assert.equal(record.result, decision?.result, "4: a gate ended that nobody decided so");
    assert.equal(before.digest, decision?.digest, "4: decided about something else");
    assert.equal(record.decision?.by, decision?.by, "4: somebody else decided");
  }
}
