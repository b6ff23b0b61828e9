/** What must hold at each pass of a staged rollout, computed in another way than the engine does. */
import assert from "node:assert/strict";
import type { RolloutStage, RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRolloutStatus, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { parseTime } from "@flotilla/shared/time";
import { hasRevision, type Member } from "../member.ts";
import { minutes, type Pass, type Simulation } from "./simulation.ts";

const deadlineMs = 15 * minutes;

/** A soak is measured while nothing is in flight, from a time that this rollout has stored. */
export function checkSoaks(inputs: Pass["inputs"], status: BundleRolloutStatus): void {
  for (const { name, gates } of status.stages ?? []) {
    const own = inputs.strategy.stages?.find((each) => each.name === name);
    for (const record of gates ?? []) {
      const soak = own?.after?.find((gate) => gate.name === record.name)?.soak;
      if (soak === undefined || record.result !== "Passed") continue;
      const [from, to] = [parseTime(record.soakingSince), parseTime(record.decision?.at)];
      assert.ok(from !== undefined && to !== undefined, "4: soaked since no time that is stored");
      assert.ok(to - from >= (soak.for === "30m" ? 30 : 10) * minutes, "4: soaked too short");
    }
  }
  const isStepping = status.phase === "Progressing" || status.phase === "Waiting";
  if (!isStepping || status.reason === "Paused") return;
  const stage = status.stages?.find(({ name }) => name === status.stage);
  for (const record of stage?.gates ?? []) {
    if (record.result !== "Waiting" || record.soakingSince === undefined) continue;
    const flying = inputs.members.filter(
      (member) => inputs.assignment.get(member.key) === stage?.name && isInFlight(member, inputs),
    );
    assert.equal(flying.length, 0, "4: soaks while a cluster is not ready");
  }
}

/** The limits, the order and the gates of one stage: 1 to 5. */
export function checkStage({ inputs, promoted }: Pass, stage: RolloutStage): void {
  const { stored, strategy, assignment, members } = inputs;
  const own = members.filter(({ key }) => assignment.get(key) === stage.name);
  const now = promoted.filter(({ member }) => assignment.get(member.key) === stage.name);
  const forward = now.filter(({ isRollback }) => !isRollback);
  if (strategy.rollback?.respectWindows === true && now.length > forward.length)
    assert.ok(isOpenAt(stage, inputs), "5: taken back in a closed window");
  if (forward.length === 0) return;
  const most = limitOf(stage.maxUnavailable ?? strategy.maxUnavailable, own.length);
  const flying = own.filter((member) => isInFlight(member, inputs));
  assert.ok(flying.length + forward.length <= most, "1: too many in flight");
  const failed = own.filter((member) => isFailed(member, inputs));
  const state = stored?.stages?.find(({ name }) => name === stage.name);
  const tolerated = tolerance(stage, strategy, own.length) + (state?.acceptedFailures ?? 0);
  const counted = failed.filter((member) => !wasBroken(member, inputs));
  const isContinued = (stage.onFailure ?? strategy.onFailure) === "Continue";
  assert.ok(isContinued || counted.length <= tolerated, "6: promoted in a breach");
  const unavailable = own.filter(
    (member) =>
      !member.isSkipped &&
      !wasBroken(member, inputs) &&
      (hasRevision(member) ? !isDone(member) : member.isConnected && isUnready(member)),
  ).length;
  const countedUnavailable =
    unavailable - (isContinued ? counted.length : Math.min(counted.length, tolerated));
  const available = forward.filter(({ member }) => !isUnready(member));
  if (available.length > 0)
    assert.ok(countedUnavailable + available.length <= most, "2: too many unavailable");
  const stages = strategy.stages ?? [];
  for (const earlier of stages.slice(0, stages.indexOf(stage))) {
    const phase = stored?.stages?.find(({ name }) => name === earlier.name)?.phase;
    assert.ok(phase === "Completed" || phase === "Skipped", "3: an earlier stage is not completed");
  }
  assert.ok(
    state?.phase === "Progressing" || state?.phase === "Completed",
    "4: its turn is not stored",
  );
  const isAdopted =
    (state.gates ?? []).every(({ plan }) => plan !== undefined) &&
    state.startedAt === state.completedAt;
  for (const gate of isAdopted ? [] : (stage.before ?? [])) {
    // A plan is approved again for what comes late: see plan-invariants.ts.
    if (gate.approval?.plan === true) continue;
    const record = recordOf(state, gate.name);
    assert.equal(record?.result, "Passed", "4: a gate before it is not stored as passed");
    assert.ok(
      gate.window !== undefined || (record.decision?.by ?? "") !== "",
      "4: a gate passed that nobody decided",
    );
  }
  if (state.phase === "Completed" && !isAdopted)
    for (const gate of stage.after ?? []) {
      const record = recordOf(state, gate.name);
      assert.equal(record?.result, "Passed", "4: a gate after it is not stored as passed");
    }
  assert.ok(isOpenAt(stage, inputs), "5: the window is closed");
}

/** Some window is open, if any permits, and none that denies is; one that does not exist protects. */
function isOpenAt({ windows = [] }: RolloutStage, { facts, nowMs }: Pass["inputs"]): boolean {
  const open = windows.filter((window) => {
    const { isOpen, problem } = facts.windowOf(window, nowMs);
    return problem === undefined ? isOpen : window.deny === true;
  });
  const permits = windows.filter(({ deny }) => deny !== true);
  return (
    !open.some(({ deny }) => deny === true) &&
    (permits.length === 0 || permits.some((each) => open.includes(each)))
  );
}

/** A gate `window` passes while its Schedule is open; what waits for a window knows when to look again. */
export function checkWindows({ inputs, result }: Pass): void {
  const { stored, strategy, facts, nowMs } = inputs;
  const { status, wakesAtMs = Number.POSITIVE_INFINITY } = result;
  for (const { name, gates = [] } of status.stages ?? []) {
    const stage = strategy.stages?.find((each) => each.name === name);
    const before = stored?.stages?.find((each) => each.name === name)?.gates;
    for (const record of gates) {
      const gate = [...(stage?.before ?? []), ...(stage?.after ?? [])].find(
        (each) => each.name === record.name,
      );
      const isNew = before?.some((each) => each.gate === record.gate && each.result === "Waiting");
      if (gate?.window === undefined || isNew !== true || record.result !== "Passed") continue;
      const { isOpen, problem } = facts.windowOf(gate.window, nowMs);
      assert.ok(isOpen && problem === undefined, "5: a gate passed while its window is closed");
    }
  }
  for (const stage of strategy.stages ?? []) {
    const isOpen = isOpenAt(stage, inputs);
    for (const member of inputs.members) {
      if (inputs.assignment.get(member.key) !== stage.name || !hasRevision(member)) continue;
      const isOff = member.applied !== member.desired && (member.isOffSchedule || !isOpen);
      assert.equal(
        result.held.has(member.key),
        isOff,
        "5: tried in a closed window, or held in an open one",
      );
    }
  }
  if (status.phase !== "Waiting" || status.reason !== "WindowClosed") return;
  const stage = strategy.stages?.find(({ name }) => name === status.stage);
  if (stage === undefined || isOpenAt(stage, inputs)) return;
  assert.match(
    status.message ?? "",
    /there is no Schedule|window \w+ (opens at|denies|does not|is closed)/,
  );
  // No window of a history is open for less than six minutes.
  for (let atMs = nowMs; atMs < Math.min(wakesAtMs, nowMs + 120 * minutes); atMs += 3 * minutes)
    assert.ok(!isOpenAt(stage, { ...inputs, nowMs: atMs }), "12: it opens before it is looked at");
}

function recordOf({ gates }: StageStatus, gate: string): GateRecord | undefined {
  return gates?.findLast(({ name }) => name === gate);
}

function isDone(member: Member): boolean {
  return hasRevision(member) && member.applied === member.content && member.isReady;
}

function isUnready({ desired, applied, isReady }: Member): boolean {
  return desired !== "" && !(isReady && applied === desired);
}

/** Whether its deadline is over, or its agent has given up. */
function isFailed(member: Member, inputs: Pass["inputs"]): boolean {
  if (!hasRevision(member) || isDone(member) || member.isSkipped || member.isPaused) return false;
  if (member.hasGivenUp) return true;
  if (member.isHeld || member.wasPaused || member.waitsForDependency) return false;
  const { stored, name, nowMs } = inputs;
  const promotedAt = member.promotion?.rollout === name ? member.promotion.at : stored?.startedAt;
  const times = [
    ...[parseTime(promotedAt), parseTime(stored?.resumedAt)],
    ...[member.unreadySinceMs, member.dependenciesMetMs],
  ];
  return nowMs - Math.max(...times.map((time) => time ?? 0)) > deadlineMs;
}

function isInFlight(member: Member, inputs: Pass["inputs"]): boolean {
  return hasRevision(member) && !isDone(member) && !member.isSkipped && !isFailed(member, inputs);
}

function wasBroken(member: Member, { name, stored }: Pass["inputs"]): boolean {
  if (hasRevision(member) && member.promotion?.rollout === name)
    return member.promotion.from !== "" && member.promotion.wasReady === false;
  const started = parseTime(stored?.startedAt) ?? 0;
  return (
    member.desired !== "" &&
    member.isConnected &&
    !member.isReady &&
    (member.unreadySinceMs ?? 0) <= started
  );
}

/** The numbers that histories use, read in another way than the engine does. */
function limitOf(value: number | string | null | undefined, total: number): number {
  if (value === undefined || value === null) return Math.max(1, total);
  const count =
    typeof value === "number" ? value : Math.floor((total * Number.parseInt(value, 10)) / 100);
  return Math.max(1, Math.min(count, Math.max(1, total)));
}

function tolerance(stage: RolloutStage, strategy: RolloutStrategy, total: number): number {
  const value = stage.maxFailures ?? strategy.maxFailures ?? 0;
  return typeof value === "number" ? value : Math.floor((total * Number.parseInt(value, 10)) / 100);
}

/** `skipped`: when it ended. */
export function checkRolledBack(simulation: Simulation, skipped: ReadonlySet<string>): void {
  const rollout = simulation.rollouts.at(-1);
  for (const cluster of simulation.clusters.values()) {
    const { promotion, desired, applied, isPaused, isConnected, name } = cluster;
    // It follows once it is connected.
    if (!isConnected && applied === desired) continue;
    const isSkipped = skipped.has(name) || (rollout?.spec.skipStages ?? []).length > 0;
    if (promotion?.rollout !== rollout?.metadata.name || isPaused || isSkipped) continue;
    if (promotion?.from === "" || promotion?.from === rollout?.spec.revision) continue;
    assert.notEqual(desired, rollout?.spec.revision, `9: ${name} still has the revision`);
  }
}
