/** The strategies and the fleets that tests of the engine's answers share. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { rounds } from "./passes.ts";
import {
  aSimulatedCluster,
  type SimulatedCluster,
  type Simulation,
  simulate,
  statusOf,
} from "./simulation.ts";

const canary = { clusterSelector: { matchLabels: { canary: "true" } } };
export const canaryLabels = { canary: "true" };

export function oneStage(fields: Partial<RolloutStrategy> = {}): RolloutStrategy {
  return { stages: [{ name: "all" }], ...fields };
}

/** A canary stage, and the rest. */
export function canaryThenProd(
  fields: Partial<RolloutStrategy> = {},
  stage: Partial<NonNullable<RolloutStrategy["stages"]>[number]> = {},
): RolloutStrategy {
  return {
    stages: [{ name: "canary", ...canary, ...stage }, { name: "prod" }],
    ...fields,
  };
}

export function clusterOf({ clusters }: Simulation, name: string): SimulatedCluster {
  const cluster = clusters.get(name);
  assert.ok(cluster);
  return cluster;
}

export function stageOf(simulation: Simulation, name: string) {
  return statusOf(simulation).stages?.find((stage) => stage.name === name);
}

/** How many clusters each round has promoted. */
export const counts = (promoted: readonly (readonly string[])[]) =>
  promoted.map(({ length }) => length);

export function gatedProd(): RolloutStrategy {
  return {
    stages: [
      { name: "canary", ...canary },
      { name: "prod", before: [{ name: "board", approval: {} }] },
    ],
  };
}

/** One whose gate before prod waits. */
export function gated(): Simulation {
  const simulation = simulate(gatedProd(), [
    aSimulatedCluster("ams", { labels: canaryLabels }),
    aSimulatedCluster("ber"),
  ]);
  rounds(simulation, 2);
  assert.equal(stageOf(simulation, "prod")?.phase, "Gated");
  return simulation;
}
