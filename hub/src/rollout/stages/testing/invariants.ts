/** What must hold at each pass of a staged rollout, computed in another way than the engine does. */
import assert from "node:assert/strict";
import type { RolloutStage, RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import { parseTime } from "@flotilla/shared/time";
import { hasRevision, type Member } from "../member.ts";
import { isTargetOf, minutes, type Pass, type Simulation } from "./simulation.ts";

/** As histories write it. */
const deadlines: Readonly<Record<string, number>> = {
  "5m": 5 * minutes,
  "15m": 15 * minutes,
  "1h": 60 * minutes,
};

function deadlineOf(stage: RolloutStage | undefined, strategy: RolloutStrategy): number {
  const deadlineMs = deadlines[stage?.progressDeadline ?? strategy.progressDeadline ?? "15m"];
  assert.ok(deadlineMs !== undefined, "no deadline of a history");
  return deadlineMs;
}

function stageOf(
  member: Member,
  { strategy, assignment }: Pass["inputs"],
): RolloutStage | undefined {
  return strategy.stages?.find(({ name }) => name === assignment.get(member.key));
}

/** A stage soaks while nothing of it is in flight. */
export function checkSoaks(inputs: Pass["inputs"], status: BundleRolloutStatus): void {
  const isStepping = status.phase === "Progressing" || status.phase === "Waiting";
  if (!isStepping || status.reason === "Paused") return;
  const stage = status.stages?.find(({ name }) => name === status.stage);
  for (const record of stage?.gates ?? []) {
    const isSoaking = record.result === "Waiting" && record.soakingSince !== undefined;
    if (!isSoaking || stage?.phase !== "Soaking") continue;
    const flying = inputs.members.filter(
      (member) => inputs.assignment.get(member.key) === stage.name && isInFlight(member, inputs),
    );
    assert.equal(flying.length, 0, "4: soaks while a cluster is not ready");
  }
}

/** The limits, the order and the gates of one stage: 1 to 5. */
export function checkStage(
  { inputs, promoted }: Pick<Pass, "inputs" | "promoted">,
  stage: RolloutStage,
): void {
  const { stored, strategy, assignment, members } = inputs;
  const own = members.filter(({ key }) => assignment.get(key) === stage.name);
  const now = promoted.filter(({ member }) => assignment.get(member.key) === stage.name);
  const forward = now.filter(({ isRollback }) => !isRollback);
  if (now.length > forward.length) checkRollbacks({ inputs, promoted: now }, own, stage);
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
  assert.ok(isOpenAt(stage, inputs), "5: the window is closed");
}

/** What no stage takes any more gets back what it had, under the limits of the strategy, and nothing else. */
export function checkUnassigned({ inputs, promoted }: Pick<Pass, "inputs" | "promoted">): void {
  const isIn = ({ key }: Pick<Member, "key">) => inputs.assignment.has(key);
  const others = promoted.filter(({ member }) => !isIn(member));
  assert.ok(
    others.every(({ isRollback }) => isRollback),
    "10: promoted, and in no stage",
  );
  const own = inputs.members.filter((member) => !isIn(member));
  checkRollbacks({ inputs, promoted: others }, own, undefined);
}

/** What goes back is under limits, too; what is not connected at once. */
function checkRollbacks(
  { inputs, promoted }: Pick<Pass, "inputs" | "promoted">,
  own: readonly Member[],
  stage: RolloutStage | undefined,
): void {
  const { strategy, name, nowMs } = inputs;
  if (strategy.rollback?.respectWindows === true && stage !== undefined)
    assert.ok(isOpenAt(stage, inputs), "5: taken back in a closed window");
  const limit = strategy.rollback?.maxUnavailable ?? stage?.maxUnavailable;
  const busy = own.filter(
    ({ promotion, desired, content, applied, isReady, isConnected }) =>
      promotion?.rollout === name &&
      desired !== content &&
      isConnected &&
      nowMs - (parseTime(promotion.at) ?? 0) <= deadlineOf(stage, strategy) &&
      !(isReady && applied === desired),
  );
  const back = promoted.filter(({ member, isRollback }) => isRollback && member.isConnected);
  if (back.length === 0) return;
  const most = limitOf(limit ?? strategy.maxUnavailable, own.length);
  assert.ok(busy.length + back.length <= most, "1: too many are taken back at a time");
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
  // What is let go now is written first, and looked at again.
  if (inputs.members.some(({ key, isHeld }) => isHeld && !result.held.has(key))) return;
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

/** Where tests count, one that has failed or not run yet is not done. */
export function isDone(member: Member): boolean {
  const isTested = member.tests !== "Required" || member.testsPassed === true;
  return hasRevision(member) && member.applied === member.content && member.isReady && isTested;
}

function isUnready({ desired, applied, isReady }: Member): boolean {
  return desired !== "" && !(isReady && applied === desired);
}

/** Whether its deadline is over, or its agent has given up. */
function isFailed(member: Member, inputs: Pass["inputs"]): boolean {
  if (!hasRevision(member) || isDone(member)) return false;
  if (isSkipped(member, inputs) || member.isPaused) return false;
  if (member.hasGivenUp) return true;
  if (member.isHeld || member.wasPaused || member.waitsForDependency) return false;
  const { stored, name, nowMs } = inputs;
  const promotedAt = member.promotion?.rollout === name ? member.promotion.at : stored?.startedAt;
  const times = [
    ...[parseTime(promotedAt), parseTime(stored?.resumedAt)],
    ...[member.unreadySinceMs, member.dependenciesMetMs],
  ];
  return (
    nowMs - Math.max(...times.map((time) => time ?? 0)) >
    deadlineOf(stageOf(member, inputs), inputs.strategy)
  );
}

function isSkipped(member: Member, inputs: Pass["inputs"]): boolean {
  const name = inputs.assignment.get(member.key) ?? "";
  return member.isSkipped || inputs.spec.skipStages?.includes(name) === true;
}

export function isInFlight(member: Member, inputs: Pass["inputs"]): boolean {
  const isPromoted = hasRevision(member) && !isSkipped(member, inputs);
  return isPromoted && !isDone(member) && !isFailed(member, inputs);
}

/** Whether its turn has not come though nothing keeps it from being promoted. */
export function isPending(member: Member, inputs: Pass["inputs"]): boolean {
  const stage = stageOf(member, inputs);
  const isHeldUp = member.isPaused || member.isOffSchedule || isSkipped(member, inputs);
  if (stage === undefined || hasRevision(member) || isHeldUp) return false;
  return member.isConnected && isOpenAt(stage, inputs);
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
    // Its labels have changed: the next revision, which is another one, has something for it.
    if (!isTargetOf(rollout?.spec.revision ?? "", cluster)) continue;
    assert.notEqual(desired, rollout?.spec.revision, `9: ${name} still has the revision`);
  }
}
