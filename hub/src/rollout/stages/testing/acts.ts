/** What happens to a random fleet between two settlements. */

import { applyVerified } from "./plan-invariants.ts";
import { pick, type Random } from "./random.ts";
import { editedStrategy, randomWindow, regions, windowNames } from "./random-strategies.ts";
import {
  aSimulatedCluster,
  breakDown,
  command,
  fresh,
  minutes,
  type SimulatedCluster,
  type Simulation,
  waitForDependency,
} from "./simulation.ts";

export const liveStates = ["", "", "x", "y", "same"] as const;

interface Act {
  readonly simulation: Simulation;
  readonly random: Random;
  readonly cluster: SimulatedCluster;
}

/** How often each of them happens, in relation to the others. */
const acts: readonly (readonly [weight: number, act: (on: Act) => void])[] = [
  [34, reports],
  [7, ({ cluster }) => set(cluster, { hasGivenUp: !cluster.isReady })],
  [7, ({ simulation, cluster }) => breakDown(simulation, cluster)],
  [7, ({ cluster }) => set(cluster, { isConnected: !cluster.isConnected })],
  [4, ({ cluster, random }) => set(cluster, { labels: { region: pick(random, regions) } })],
  [3, join],
  [1, leave],
  [3, ({ cluster }) => set(cluster, { isPaused: !cluster.isPaused })],
  [1, ({ cluster }) => set(cluster, { isOffSchedule: !cluster.isOffSchedule })],
  [2, ({ simulation }) => set(simulation, { isPaused: !simulation.isPaused })],
  [
    3,
    ({ simulation, random }) =>
      simulation.windows.set(pick(random, windowNames), randomWindow(random)),
  ],
  [9, decide],
  // v4 is for some regions only.
  [
    3,
    ({ simulation, random }) =>
      set(simulation, { desired: pick(random, ["v1", "v2", "v3", "v4"]) }),
  ],
  [6, commandOf],
  [3, actOnPlans],
  [
    1.5,
    ({ simulation, cluster }) =>
      waitForDependency(simulation, cluster, !cluster.waitsForDependency),
  ],
  [2, ({ simulation }) => set(simulation, { isOtherRolledOut: !simulation.isOtherRolledOut })],
  [
    4,
    ({ simulation, random }) => set(simulation, { strategy: editedStrategy(random, simulation) }),
  ],
  [
    8.5,
    ({ simulation, random }) => {
      simulation.nowMs += pick(random, [1, 5, 16, 31, 130]) * minutes;
    },
  ],
];

const weights = acts.reduce((sum, [weight]) => sum + weight, 0);

export function actOn(simulation: Simulation, random: Random): void {
  const cluster = pick(random, [...simulation.clusters.values()]);
  let left = random() * weights;
  const found = acts.find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  found?.[1]({ simulation, random, cluster });
}

function set<T extends object>(target: T, fields: Partial<T>): void {
  Object.assign(target, fields);
}

function reports({ simulation, random }: Act): void {
  for (const each of simulation.clusters.values()) {
    // Between an approval and Helm.
    if (each.applied !== each.desired && random() < 0.4) each.live = pick(random, liveStates);
    if (each.isConnected && !each.isPaused && random() < 0.8) applyVerified(simulation, each);
    const isTested = simulation.tests !== "None" && each.isReady && each.testsPassed === undefined;
    if (isTested && random() < 0.8) each.testsPassed = random() < 0.9;
  }
}

function join({ simulation, random }: Act): void {
  simulation.joined += 1;
  const name = `n${simulation.joined}`;
  simulation.clusters.set(name, {
    ...aSimulatedCluster(name, { ...fresh, tests: simulation.tests }),
    labels: { region: pick(random, regions) },
  });
}

function leave({ simulation: { clusters }, cluster }: Act): void {
  if (clusters.size > 2) clusters.delete(cluster.name);
}

/** What makes an approved plan another one, or unknown. */
function actOnPlans({ simulation, cluster, random }: Act): void {
  const roll = random();
  if (roll < 0.5) {
    // Nobody tells the hub: an answer counts for some time.
    cluster.live = pick(random, liveStates);
  } else if (roll < 0.7) simulation.plans.clear();
  else if (roll < 0.9) simulation.isAnswering = !simulation.isAnswering;
  else if (roll < 0.95) cluster.isOutdated = !cluster.isOutdated;
  else cluster.verifies = !cluster.verifies;
}

function decide({ simulation, random }: Act): void {
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

function commandOf({ simulation, random }: Act): void {
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
