/** Random histories of a staged rollout, and what must hold at each pass of them. */
import assert from "node:assert/strict";
import type { RolloutStage, RolloutStrategy } from "@flotilla/shared/api";
import { hasRevision } from "../member.ts";
import { stepRollout } from "../staged-step.ts";
import { checkRolledBack, checkSoaks, checkStage, checkWindows } from "./invariants.ts";
import { createMoveCheck } from "./moves.ts";
import { settle } from "./passes.ts";
import { applyVerified, checkApproved, checkAskedOnce, checkRefused } from "./plan-invariants.ts";
import {
  aSimulatedCluster,
  becomeReady,
  breakDown,
  command,
  fresh,
  minutes,
  type Pass,
  type SimulatedCluster,
  type SimulatedWindow,
  type Simulation,
  simulate,
  statusOf,
  waitForDependency,
} from "./simulation.ts";

/** From 0 up to 1. */
type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
}

const regions = ["a", "b", "c"] as const;
const liveStates = ["", "", "x", "y", "same"] as const;

const windowLists: readonly NonNullable<RolloutStage["windows"]>[] = [
  [{ schedule: "nights" }],
  [{ schedule: "nights" }, { schedule: "days" }],
  [{ schedule: "freeze", deny: true }],
  [{ schedule: "nights" }, { schedule: "freeze", deny: true }],
];

const windowNames = ["nights", "days", "freeze"] as const;

function randomWindow(random: Random): SimulatedWindow {
  const everyMs = pick(random, [60, 120, 300]) * minutes;
  const forMs = everyMs * pick(random, [0.1, 0.5, 0.9]);
  const repeated = { everyMs, forMs, offsetMs: pick(random, [0, 7, 45]) * minutes };
  return pick(random, ["open", "closed", "missing", repeated, repeated, repeated]);
}

function randomStage(random: Random, index: number, isLast: boolean): RolloutStage {
  const after = pick(random, [
    [],
    [],
    [{ name: "soak", soak: { for: "30m" } }],
    [{ name: "check", external: {}, timeout: "2h" }],
    [{ name: "night", window: { schedule: "nights" } }],
    [
      { name: "soak", soak: { for: "10m" } },
      { name: "check", external: {}, timeout: "2h" },
    ],
  ]);
  const before = pick(random, [
    [],
    [],
    [],
    [{ name: "board", approval: {}, timeout: "2h" }],
    [{ name: "opening", window: { schedule: "days" }, timeout: "3h" }],
    [{ name: "plan", approval: { plan: true, validFor: "3h" }, timeout: "2h" }],
    [{ name: "plan", approval: { plan: true } }],
    [{ name: "plan", approval: { plan: true, verify: true } }],
    [{ name: "plan", approval: { plan: true, verify: true, validFor: "3h" }, timeout: "2h" }],
  ]);
  return {
    name: `s${index}`,
    ...(!isLast && { clusterSelector: { matchLabels: { region: pick(random, regions) } } }),
    ...(!isLast && random() < 0.2 && { upTo: pick(random, [1, "50%"]) }),
    ...(random() < 0.6 && { maxUnavailable: pick(random, [1, 2, "34%"]) }),
    ...(random() < 0.4 && { maxFailures: pick(random, [0, 1, "50%"]) }),
    ...(random() < 0.1 && { allowEmpty: true }),
    ...(random() < 0.1 && { minSuccess: 0 }),
    ...(random() < 0.25 && { windows: pick(random, windowLists) }),
    ...(before.length > 0 && { before }),
    ...(after.length > 0 && { after }),
  };
}

function randomStrategy(random: Random): RolloutStrategy {
  const count = 1 + Math.floor(random() * 3);
  return {
    stages: Array.from({ length: count }, (_, index) =>
      randomStage(random, index, index === count - 1),
    ),
    ...(random() < 0.3 && { maxUnavailable: pick(random, [1, "50%"]) }),
    ...(random() < 0.6 && { onFailure: pick(random, ["Halt", "Rollback", "Continue"] as const) }),
    ...(random() < 0.2 && { onNewRevision: "Restart" as const }),
    ...(random() < 0.2 && {
      rollback: pick(random, [{ maxUnavailable: 1 }, { respectWindows: true }]),
    }),
  };
}

function randomCluster(random: Random, name: string): SimulatedCluster {
  const state = random();
  const broken = { isReady: false };
  const fields = state < 0.1 ? fresh : state < 0.18 ? broken : {};
  return aSimulatedCluster(name, {
    ...fields,
    labels: { region: pick(random, regions) },
    isConnected: random() > 0.1,
    live: pick(random, liveStates),
    isOutdated: random() < 0.03,
    verifies: random() > 0.03,
  });
}

/** What happens to the fleet between two settlements. */
function act(simulation: Simulation, random: Random): void {
  const clusters = [...simulation.clusters.values()];
  const cluster = pick(random, clusters);
  const roll = random();
  if (roll < 0.34) {
    for (const each of clusters) {
      // Between an approval and Helm.
      if (each.applied !== each.desired && random() < 0.4) each.live = pick(random, liveStates);
      if (each.isConnected && !each.isPaused && random() < 0.8) applyVerified(simulation, each);
    }
  } else if (roll < 0.4) cluster.hasGivenUp = !cluster.isReady;
  else if (roll < 0.45) breakDown(simulation, cluster);
  else if (roll < 0.52) cluster.isConnected = !cluster.isConnected;
  else if (roll < 0.56) cluster.labels = { region: pick(random, regions) };
  else if (roll < 0.59) {
    const name = `n${simulation.clusters.size}`;
    simulation.clusters.set(name, {
      ...aSimulatedCluster(name, fresh),
      labels: { region: pick(random, regions) },
    });
  } else if (roll < 0.6 && clusters.length > 2) simulation.clusters.delete(cluster.name);
  else if (roll < 0.63) cluster.isPaused = !cluster.isPaused;
  else if (roll < 0.64) cluster.isOffSchedule = !cluster.isOffSchedule;
  else if (roll < 0.66) simulation.isPaused = !simulation.isPaused;
  else if (roll < 0.69) simulation.windows.set(pick(random, windowNames), randomWindow(random));
  else if (roll < 0.78) decide(simulation, random);
  else if (roll < 0.81) simulation.desired = pick(random, ["v1", "v2", "v3"]);
  else if (roll < 0.87) commandOf(simulation, random);
  else if (roll < 0.9) actOnPlans(simulation, cluster, random);
  else if (roll < 0.915) waitForDependency(simulation, cluster, !cluster.waitsForDependency);
  else simulation.nowMs += pick(random, [1, 5, 16, 31, 130]) * minutes;
}

/** What makes an approved plan another one, or unknown. */
function actOnPlans(simulation: Simulation, cluster: SimulatedCluster, random: Random): void {
  const roll = random();
  if (roll < 0.5) {
    // Nobody tells the hub: an answer counts for some time.
    cluster.live = pick(random, liveStates);
  } else if (roll < 0.7) simulation.plans.clear();
  else if (roll < 0.9) simulation.isAnswering = !simulation.isAnswering;
  else if (roll < 0.95) cluster.isOutdated = !cluster.isOutdated;
  else cluster.verifies = !cluster.verifies;
}

function decide(simulation: Simulation, random: Random): void {
  const records = (simulation.rollouts.at(-1)?.status?.stages ?? []).flatMap(
    ({ gates }) => gates ?? [],
  );
  const record = records.find(({ result }) => result === "Waiting");
  if (record?.uid === undefined) return;
  const digest = random() < 0.1 ? "sha256:other" : record.digest;
  const result = random() < 0.8 ? "Passed" : "Failed";
  if (!simulation.decisions.has(record.uid))
    simulation.decisions.set(record.uid, { result, by: "alice", digest });
}

function commandOf(simulation: Simulation, random: Random): void {
  if (simulation.rollouts.length === 0) return;
  const roll = random();
  const key = pick(random, [...simulation.clusters.keys()]);
  if (roll < 0.25) command(simulation, { state: "Halted" });
  else if (roll < 0.6) command(simulation, { state: "Running", resume: `${simulation.nowMs}` });
  else if (roll < 0.75) command(simulation, { state: "RolledBack" });
  else if (roll < 0.85) command(simulation, { state: "Cancelled" });
  else if (roll < 0.97) command(simulation, { skip: [key] });
  else command(simulation, { skipStages: ["s0"] });
}

/** How it ended. */
interface HistoryOutcome {
  readonly promoted: number;
  /** How many of them by reports of single clusters. */
  readonly promotedByReports: number;
  /** Promotions that an agent has refused. */
  readonly refused: number;
  readonly phase: string;
}

/** Runs one; throws where something does not hold. */
export function randomHistory(seed: number): HistoryOutcome {
  const random = randomOf(seed);
  const size = 3 + Math.floor(random() * 6);
  const clusters = Array.from({ length: size }, (_, index) => randomCluster(random, `c${index}`));
  const simulation = simulate(randomStrategy(random), clusters);
  simulation.windows.set("freeze", "closed");
  for (const name of windowNames)
    if (random() < 0.3) simulation.windows.set(name, randomWindow(random));
  if (random() < 0.5) {
    // A revision before, that is known to be good.
    simulation.desired = "v1";
    settle(simulation);
    simulation.desired = "v2";
  }
  const observer = createObserver(simulation);
  simulation.onPass = observer.onPass;
  const steps = 6 + Math.floor(random() * 14);
  for (let step = 0; step < steps; step += 1) {
    settle(simulation);
    observer.settled();
    act(simulation, random);
  }
  settle(simulation);
  observer.settled();
  const { phase } = statusOf(simulation);
  if (random() < 0.3) finish(simulation, observer);
  return {
    promoted: observer.promoted(),
    promotedByReports: observer.promotedByReports(),
    refused: observer.refused(),
    phase,
  };
}

interface Observer {
  readonly onPass: (pass: Pass) => void;
  readonly settled: () => void;
  readonly promoted: () => number;
  readonly promotedByReports: () => number;
  readonly refused: () => number;
}

/** Sees every pass, and computes what may be promoted by itself, from what was stored before it. */
function createObserver(simulation: Simulation): Observer {
  const promotions = new Map<string, number>();
  const moves = createMoveCheck(simulation);
  const refusals = new Set<string>();
  /** Skipped in a rollout that was taken back when that ended: what is not skipped any more then keeps what it has. */
  const skippedAtEnd = new Map<string, readonly string[]>();
  let total = 0;

  function onPass({ inputs, result, promoted }: Pass): void {
    moves.onPass({ inputs, result, promoted });
    for (const { key, promotion, refused } of inputs.members)
      if (refused !== undefined) refusals.add(`${key} ${promotion?.at}`);
    const again = stepRollout(inputs);
    // Each leader gets the same answer: 11.
    assert.deepEqual(again.promotions, result.promotions, "11: the same state, another answer");
    const { stored, spec, name } = inputs;
    const { phase, reason, stage, since } = result.status;
    if (phase === "RolledBack" && stored?.phase !== phase)
      skippedAtEnd.set(
        name,
        inputs.members.filter(({ isSkipped }) => isSkipped).map(({ key }) => key),
      );
    if (stored?.phase === phase && stored.reason === reason && stored.stage === stage)
      assert.equal(since, stored.since, "12: since has moved");
    checkSoaks(inputs, result.status);
    checkAskedOnce(inputs, result.status);
    checkRefused({ inputs, result, promoted });
    checkWindows({ inputs, result, promoted });
    if (promoted.length === 0) return;
    assert.ok(stored !== undefined, "4: promoted before anything was stored");
    for (const { member, isRollback } of promoted) {
      total += 1;
      const once = `${name} ${member.key} ${isRollback}`;
      const count = (promotions.get(once) ?? 0) + 1;
      promotions.set(once, count);
      assert.ok(!member.isPaused && !member.isSkipped, "5: paused or skipped");
      assert.equal(member.refused, undefined, "7: promoted again before it was taken back");
      assert.equal(inputs.isPaused, false, "5: the Bundle is paused");
      assert.notEqual(spec.state, "Halted", "6: halted by a person");
      if (isRollback) {
        assert.match(stored.phase, /^Roll(ing|ed)Back$/, "6: taken back before that was stored");
        assert.ok(hasRevision(member) && member.promotion?.from !== "", "9: had nothing before");
      } else {
        assert.ok(["Progressing", "Waiting", "Completed"].includes(stored.phase), "6: not running");
        assert.ok(!hasRevision(member), "7: promoted twice");
        assert.ok(member.isConnected && !member.isOffSchedule, "5: offline or off schedule");
        assert.equal(spec.state ?? "Running", "Running", "6: a person has stopped it");
        assert.equal(stored.breach, undefined, "6: a breach is stored");
      }
    }
    for (const stage of inputs.strategy.stages ?? []) {
      checkStage({ inputs, result, promoted }, stage);
      checkApproved({ inputs, result, promoted }, stage, simulation);
    }
  }

  function settled(): void {
    const { status } = simulation.rollouts.at(-1) ?? {};
    if (status === undefined) return;
    const { stages = [], clusters, unassigned, phase, reason, message, since } = status;
    // 10: every cluster is counted once.
    const sum = stages.reduce((all, each) => all + each.total, unassigned?.count ?? 0);
    assert.equal(sum, clusters?.total, "10: stages do not add up");
    for (const each of stages) {
      const { done, inFlight, failed, pending, offline, paused, skipped, offSchedule } = each;
      const states = [done, inFlight, failed, pending, offline, paused, skipped, offSchedule];
      assert.equal(
        states.reduce((all, count) => all + count, 0),
        each.total,
        "10: classes do not add up",
      );
    }
    if (phase === "Waiting" || phase === "Halted") {
      assert.ok((message ?? "") !== "", "12: no sentence");
      assert.ok(reason !== undefined && since !== undefined, "12: no reason");
    }
    if (phase === "RolledBack") {
      const skipped = skippedAtEnd.get(simulation.rollouts.at(-1)?.metadata.name ?? "");
      checkRolledBack(simulation, new Set(skipped));
    }
  }

  return {
    onPass,
    settled,
    promoted: () => total,
    promotedByReports: moves.promoted,
    refused: () => refusals.size,
  };
}

/** Whether the rollout of the desired revision is completed, and every cluster has it. */
function hasEnded({ rollouts, clusters, desired }: Simulation): boolean {
  const { spec, status } = rollouts.at(-1) ?? {};
  return (
    spec?.revision === desired &&
    status?.phase === "Completed" &&
    [...clusters.values()].every((cluster) => cluster.desired === desired)
  );
}

/** Everything is well from now on: the rollout of the desired revision ends, every cluster has it, and it stays so. */
function finish(simulation: Simulation, observer: Observer): void {
  simulation.isPaused = false;
  simulation.isAnswering = true;
  simulation.windows.clear();
  simulation.windows.set("freeze", "closed");
  for (const cluster of simulation.clusters.values()) {
    cluster.isConnected = true;
    cluster.isPaused = false;
    cluster.isOffSchedule = false;
    waitForDependency(simulation, cluster, false);
    cluster.isOutdated = false;
    cluster.verifies = true;
    becomeReady(cluster);
  }
  simulation.strategy = {
    stages: (simulation.strategy.stages ?? []).map((stage) => ({ ...stage, allowEmpty: true })),
  };
  simulation.desired = "v9";
  let roundsAfter = 0;
  for (let round = 0; round < 60 && roundsAfter < 3; round += 1) {
    settle(simulation);
    observer.settled();
    const current = simulation.rollouts.at(-1);
    if (hasEnded(simulation)) roundsAfter += 1;
    const isAsked = current?.spec.state !== undefined || (current?.spec.skip ?? []).length > 0;
    if (isAsked) command(simulation, { state: "Running", skip: [] });
    for (const cluster of simulation.clusters.values()) becomeReady(cluster);
    for (const record of (current?.status?.stages ?? []).flatMap(({ gates }) => gates ?? []))
      if (record.uid !== undefined && record.result === "Waiting")
        simulation.decisions.set(record.uid, {
          result: "Passed",
          by: "bob",
          digest: record.digest,
        });
    simulation.nowMs += 31 * minutes;
  }
  const { phase } = statusOf(simulation);
  assert.equal(simulation.rollouts.at(-1)?.spec.revision, "v9", "8: the revision never started");
  assert.equal(phase, "Completed", "8: it never ends");
  for (const cluster of simulation.clusters.values())
    assert.equal(cluster.desired, "v9", `8: ${cluster.name} never got the revision`);
}
