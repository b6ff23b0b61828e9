/** Random histories of a staged rollout: fleets, strategies, what happens to them, and the end to which they come when all is well. */
import assert from "node:assert/strict";
import type { RolloutStage } from "@flotilla/shared/api";
import { actOn, liveStates } from "./acts.ts";
import { createObserver, type ObservedCounts, type Observer } from "./observer.ts";
import { settle } from "./passes.ts";
import { pick, type Random, randomOf } from "./random.ts";
import { randomStrategy, randomWindow, regions, windowNames } from "./random-strategies.ts";
import {
  aSimulatedCluster,
  becomeReady,
  command,
  fresh,
  minutes,
  type SimulatedCluster,
  type Simulation,
  simulate,
  statusOf,
  waitForDependency,
} from "./simulation.ts";

function randomCluster(
  random: Random,
  name: string,
  tests: SimulatedCluster["tests"],
): SimulatedCluster {
  const state = random();
  const broken = { isReady: false };
  const fields = state < 0.1 ? fresh : state < 0.18 ? broken : {};
  return aSimulatedCluster(name, {
    ...fields,
    tests,
    labels: { region: pick(random, regions) },
    isConnected: random() > 0.1,
    live: pick(random, liveStates),
    isOutdated: random() < 0.03,
    verifies: random() > 0.03,
  });
}

function randomSimulation(random: Random): Simulation {
  const size = 3 + Math.floor(random() * 6);
  const tests = pick(random, ["None", "None", "Ignored", "Required"] as const);
  const clusters = Array.from({ length: size }, (_, index) =>
    randomCluster(random, `c${index}`, tests),
  );
  const simulation = simulate(randomStrategy(random, tests), clusters, tests);
  simulation.windows.set("freeze", "closed");
  for (const name of windowNames)
    if (random() < 0.3) simulation.windows.set(name, randomWindow(random));
  return simulation;
}

/** How it ended. */
interface HistoryOutcome extends ObservedCounts {
  readonly phase: string;
  /** How often a leader began with an older cache. */
  readonly leaders: number;
}

/** Runs one; throws where something does not hold. `plant`: changes what makes its steps. */
export function randomHistory(
  seed: number,
  plant: (simulation: Simulation) => void = () => undefined,
): HistoryOutcome {
  const random = randomOf(seed);
  const simulation = randomSimulation(random);
  plant(simulation);
  const observer = createObserver(simulation);
  simulation.onPass = observer.onPass;
  if (random() < 0.5) {
    // A revision before, that is known to be good.
    simulation.desired = "v1";
    settle(simulation);
    simulation.desired = "v2";
  }
  const steps = 6 + Math.floor(random() * 14);
  let leaders = 0;
  for (let step = 0; step < steps; step += 1) {
    const earlier = copyOf(simulation);
    settle(simulation);
    observer.settled();
    const { rollouts } = simulation;
    actOn(simulation, random);
    // Most often right after a command of a person, which a leader then reads first.
    if (random() >= (simulation.rollouts === rollouts ? 0.06 : 0.3)) continue;
    leaders += 1;
    simulation.older = earlier;
  }
  settle(simulation);
  observer.settled();
  const { phase } = statusOf(simulation);
  if (random() < 0.2) finish(simulation, observer);
  return { ...observer.counts(), phase, leaders };
}

/** The clusters as they are now. */
function copyOf({ clusters }: Simulation): ReadonlyMap<string, SimulatedCluster> {
  return new Map([...clusters].map(([name, cluster]) => [name, { ...cluster }]));
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

/** The stage takes all clusters that are left. */
function takingAll({
  clusterSelector: _,
  upTo: _most,
  spreadBy: _label,
  ...stage
}: RolloutStage): RolloutStage {
  return stage;
}

/** The round in which the last cluster returns. */
const returnsIn = 20;

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
  simulation.isOtherRolledOut = true;
  // A stage that has fewer clusters than have to be done waits for somebody who corrects one of the two.
  const all = (simulation.strategy.stages ?? []).map(({ minSuccess: _, ...stage }) => ({
    ...stage,
    allowEmpty: true,
  }));
  simulation.strategy = {
    stages: all.map((stage, index) => (index === all.length - 1 ? takingAll(stage) : stage)),
  };
  simulation.desired = "v9";
  // One comes back when all others may have ended.
  const [late] = simulation.clusters.values();
  if (late !== undefined) late.isConnected = false;
  let roundsAfter = 0;
  for (let round = 0; round < 60 && roundsAfter < 3; round += 1) {
    if (late !== undefined && round === returnsIn) late.isConnected = true;
    settle(simulation);
    observer.settled();
    const current = simulation.rollouts.at(-1);
    if (hasEnded(simulation)) roundsAfter += 1;
    const isAsked = current?.spec.state !== undefined || (current?.spec.skip ?? []).length > 0;
    if (isAsked) command(simulation, { state: "Running", skip: [] });
    for (const cluster of simulation.clusters.values()) {
      if (cluster.isConnected) becomeReady(cluster);
      if (simulation.tests !== "None" && cluster.isReady) cluster.testsPassed = true;
    }
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
