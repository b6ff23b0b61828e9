/** Plans that agents make once more right before Helm runs: what happens to a promotion that one refuses. A fleet in memory. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import type { GateRecord } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import {
  aSimulatedCluster,
  command,
  decideGate,
  fresh,
  minutes,
  pause,
  report,
  type SimulatedCluster,
  type Simulation,
  settle,
  simulate,
  simulatedClusters,
  statusOf,
} from "./testing/index.ts";

const board = { name: "board", approval: { plan: true, verify: true }, timeout: "72h" } as const;
const verified: RolloutStrategy = { stages: [{ name: "all", before: [board] }] };

function clusterOf({ clusters }: Simulation, name: string): SimulatedCluster {
  const cluster = clusters.get(name);
  assert.ok(cluster);
  return cluster;
}

function records(simulation: Simulation): readonly GateRecord[] {
  return statusOf(simulation).stages?.find(({ name }) => name === "all")?.gates ?? [];
}

/** Approves what waits; returns who is promoted. */
function approve(simulation: Simulation): readonly string[] {
  decideGate(simulation, "board", "Passed");
  return settle(simulation);
}

/** Approved and promoted, and in `c00` somebody has changed something before its agent got to it. */
function changedMeanwhile(
  clusters: readonly SimulatedCluster[] = simulatedClusters(3),
  strategy = verified,
): Simulation {
  const simulation = simulate(strategy, clusters);
  settle(simulation);
  approve(simulation);
  clusterOf(simulation, "c00").live = "x";
  report(simulation);
  return simulation;
}

describe("a promotion that an agent has refused", () => {
  test("is taken back, counts as no failure, and is asked for by its own diff alone", () => {
    const simulation = changedMeanwhile();
    assert.deepEqual(settle(simulation), []);

    const { desired, applied, isReady, promotion } = clusterOf(simulation, "c00");
    assert.deepEqual([desired, applied, isReady], ["v1", "v1", true]);
    assert.deepEqual(
      [promotion?.from, promotion?.refused, promotion?.planned],
      ["v2", 1, undefined],
    );
    const { phase, message, clusters, breach } = statusOf(simulation);
    assert.deepEqual([phase, breach], ["Waiting", undefined]);
    assert.deepEqual([clusters?.done, clusters?.failed, clusters?.pending], [2, 0, 1]);
    assert.deepEqual(records(simulation).at(-1)?.plan?.diffs, ["v1 to v2 x"]);
    assert.match(
      message ?? "",
      /waits for the approval board .*1 cluster.*; got 1 cluster back: something else would have changed by then than was approved \(PLAN_STALE\): c00/,
    );

    assert.deepEqual(approve(simulation), ["c00"]);
    report(simulation);
    settle(simulation);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("is made again without asking anybody when what was approved fits again", () => {
    const simulation = changedMeanwhile();
    clusterOf(simulation, "c00").live = "";

    assert.deepEqual(settle(simulation), ["c00"]);
    assert.equal(records(simulation).length, 1);
    report(simulation);
    settle(simulation);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("is made again ever more rarely while something else would change each time", () => {
    const simulation = changedMeanwhile();
    const cluster = clusterOf(simulation, "c00");
    const waits: number[] = [];
    for (let refusals = 1; refusals <= 7; refusals += 1) {
      cluster.live = "";
      let waited = 0;
      while (settle(simulation).length === 0) {
        pause(simulation, minutes / 2);
        waited += 0.5;
      }
      waits.push(waited);
      cluster.live = "x";
      report(simulation);
    }

    assert.deepEqual(waits, [0, 1, 2, 4, 8, 15, 15]);
    assert.equal(records(simulation).length, 1);
  });

  test("holds up no other cluster", () => {
    const strategy = { stages: [{ name: "all", before: [board], maxUnavailable: 1 }] };
    const simulation = changedMeanwhile(simulatedClusters(3), strategy);

    assert.deepEqual(settle(simulation), ["c01"]);
    report(simulation);
    assert.deepEqual(settle(simulation), ["c02"]);
  });

  test("is taken back where the rollout is halted, or goes back", () => {
    for (const state of ["Halted", "RolledBack", "Cancelled"] as const) {
      const simulation = changedMeanwhile();
      command(simulation, { state });

      settle(simulation);
      pause(simulation, 60 * minutes);
      report(simulation);
      settle(simulation);

      assert.equal(clusterOf(simulation, "c00").desired, "v1", state);
    }
  });

  test("is taken back before the cluster is promoted again, also where nothing is approved any more", () => {
    const simulation = changedMeanwhile();
    simulation.strategy = { stages: [{ name: "all" }] };
    const promotions: (string | undefined)[] = [];
    simulation.onPass = ({ inputs, promoted }) => {
      if (promoted.length > 0)
        promotions.push(inputs.members.find(({ key }) => key === "c00")?.refused);
    };

    assert.deepEqual(settle(simulation), ["c00"]);

    assert.deepEqual(promotions, [undefined]);
    assert.equal(clusterOf(simulation, "c00").promotion?.planned, undefined);
  });

  test("leaves nothing in a cluster that had nothing", () => {
    const simulation = changedMeanwhile([
      aSimulatedCluster("c00", fresh),
      ...simulatedClusters(3).slice(1),
    ]);

    settle(simulation);

    assert.equal(clusterOf(simulation, "c00").desired, "");
    assert.deepEqual(records(simulation).at(-1)?.plan?.diffs, [" to v2 x"]);
    assert.deepEqual(approve(simulation), ["c00"]);
  });
});

describe("an agent that does not plan once more", () => {
  test("is not promoted, and is named", () => {
    const simulation = simulate(verified, [
      ...simulatedClusters(2),
      aSimulatedCluster("old", { verifies: false }),
    ]);
    settle(simulation);

    assert.deepEqual(approve(simulation), ["c00", "c01"]);
    report(simulation);
    settle(simulation);

    const { phase, message } = statusOf(simulation);
    assert.equal(phase, "Waiting");
    assert.match(message ?? "", /stage all leaves out 1 cluster: old: its agent is older/);
    clusterOf(simulation, "old").verifies = true;
    assert.deepEqual(settle(simulation), ["old"]);
  });

  test("is promoted where nothing is verified", () => {
    const strategy = {
      stages: [{ name: "all", before: [{ ...board, approval: { plan: true } }] }],
    };
    const simulation = simulate(strategy, [aSimulatedCluster("old", { verifies: false })]);
    settle(simulation);

    assert.deepEqual(approve(simulation), ["old"]);
    assert.equal(clusterOf(simulation, "old").promotion?.planned, undefined);
  });
});
