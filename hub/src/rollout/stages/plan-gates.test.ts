/** Approvals of plans in a fleet in memory: what is asked for, who goes on with it, and who waits for a Gate of its own. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import type { GateRecord } from "@flotilla/shared/api/rollout";
import { formatTimeMs } from "@flotilla/shared/time";
import { describe, test } from "vitest";
import {
  aSimulatedCluster,
  becomeReady,
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

const approval = { name: "board", approval: { plan: true }, timeout: "72h" } as const;
const approved: RolloutStrategy = { stages: [{ name: "all", before: [approval] }] };
const twoAtATime: RolloutStrategy = {
  stages: [{ name: "all", before: [approval], maxUnavailable: 1 }],
};

function started(
  clusters: readonly SimulatedCluster[],
  strategy: RolloutStrategy = approved,
): Simulation {
  const simulation = simulate(strategy, clusters);
  settle(simulation);
  return simulation;
}

function records(simulation: Simulation, stage = "all"): readonly GateRecord[] {
  return statusOf(simulation).stages?.find(({ name }) => name === stage)?.gates ?? [];
}

function last(simulation: Simulation): GateRecord {
  const record = records(simulation).at(-1);
  assert.ok(record, "no gate was started");
  return record;
}

function clusterOf(simulation: Simulation, name: string): SimulatedCluster {
  const cluster = simulation.clusters.get(name);
  assert.ok(cluster);
  return cluster;
}

/** Approves what waits; returns who is promoted. */
function approve(simulation: Simulation): readonly string[] {
  decideGate(simulation, "board", "Passed");
  return settle(simulation);
}

describe("the approval of a plan", () => {
  test("asks all agents first, and then for exactly what they answer", () => {
    const simulation = simulate(approved, [
      ...simulatedClusters(3),
      aSimulatedCluster("d", { live: "x" }),
      aSimulatedCluster("e", { live: "same" }),
      aSimulatedCluster("f", { isConnected: false }),
      aSimulatedCluster("g", { isOutdated: true }),
    ]);
    simulation.isAnswering = false;
    settle(simulation);
    assert.deepEqual(records(simulation), []);
    assert.match(
      statusOf(simulation).message ?? "",
      /stage all asks the agents of 6 clusters what would change/,
    );

    simulation.isAnswering = true;
    assert.deepEqual(settle(simulation), []);

    const { plan, result } = last(simulation);
    assert.equal(result, "Waiting");
    assert.deepEqual(plan, {
      number: 1,
      groups: 2,
      changed: 4,
      unchanged: 1,
      failing: 0,
      offline: 2,
      diffs: ["v1 to v2 ", "v1 to v2 x"],
    });
    assert.match(
      statusOf(simulation).message ?? "",
      /waits for the approval board .*: 2 groups of changes in 4 clusters of stage all/,
    );
    assert.deepEqual(approve(simulation), ["c00", "c01", "c02", "d", "e"]);
  });

  test("without any change passes by itself", () => {
    const simulation = simulate(approved, [aSimulatedCluster("a", { live: "same" })]);

    assert.deepEqual(settle(simulation), ["a"]);

    const { result, reason, decision } = last(simulation);
    assert.deepEqual([result, reason, decision?.by], ["Passed", "Met", ""]);
  });

  test("that is rejected halts, and is asked for again after a resume", () => {
    const simulation = started(simulatedClusters(2));

    decideGate(simulation, "board", "Failed");
    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).phase, "Halted");
    command(simulation, { state: "Running", resume: "again" });
    settle(simulation);

    assert.equal(last(simulation).plan?.number, 2);
    assert.equal(last(simulation).gate, "web-1-all-board-2");
    assert.deepEqual(approve(simulation), ["c00", "c01"]);
  });

  test("that was rejected before a resume is asked for again for a cluster that was offline then", () => {
    const simulation = started([...simulatedClusters(2), aSimulatedCluster("late", { live: "x" })]);
    decideGate(simulation, "board", "Failed");
    settle(simulation);
    clusterOf(simulation, "late").isConnected = false;
    command(simulation, { state: "Running", resume: "again" });
    settle(simulation);
    assert.deepEqual(approve(simulation), ["c00", "c01"]);

    clusterOf(simulation, "late").isConnected = true;
    settle(simulation);

    assert.deepEqual(last(simulation).plan?.diffs, ["v1 to v2 x"]);
    assert.deepEqual(approve(simulation), ["late"]);
  });

  test("with a decision about another plan does not count", () => {
    const simulation = started(simulatedClusters(2));
    const { uid = "" } = last(simulation);

    simulation.decisions.set(uid, { result: "Passed", by: "alice", digest: "sha256:other" });

    assert.deepEqual(settle(simulation), []);
  });

  const arrivals: readonly (readonly [string, (simulation: Simulation, live: string) => void])[] = [
    ["joins", (simulation, live) => simulation.clusters.set("x", aSimulatedCluster("x", { live }))],
    [
      "returns",
      (simulation, live) => {
        const cluster = clusterOf(simulation, "off");
        cluster.isConnected = true;
        cluster.live = live;
      },
    ],
  ];
  for (const [name, arrive] of arrivals) {
    test(`a cluster that ${name} with a diff that was approved goes on, and nobody is asked`, () => {
      const simulation = started([
        ...simulatedClusters(2),
        aSimulatedCluster("off", { isConnected: false }),
      ]);
      approve(simulation);

      arrive(simulation, "");

      assert.equal(settle(simulation).length, 1);
      assert.equal(records(simulation).length, 1);
    });

    test(`a cluster that ${name} with another diff waits for a Gate of its own`, () => {
      const simulation = started([
        ...simulatedClusters(2),
        aSimulatedCluster("off", { isConnected: false }),
      ]);
      approve(simulation);

      arrive(simulation, "x");
      assert.deepEqual(settle(simulation), []);

      const { plan, gate, result } = last(simulation);
      assert.deepEqual([result, gate], ["Waiting", "web-1-all-board-2"]);
      assert.deepEqual([plan?.diffs, plan?.changed], [["v1 to v2 x"], 1]);
      assert.equal(approve(simulation).length, 1);
    });
  }

  test("a cluster that waits for its own Gate does not hold up those that were approved", () => {
    const simulation = started(simulatedClusters(3), twoAtATime);
    assert.deepEqual(approve(simulation), ["c00"]);
    simulation.clusters.set("a", aSimulatedCluster("a", { live: "x" }));
    report(simulation);

    assert.deepEqual(settle(simulation), ["c01"]);
    assert.equal(last(simulation).result, "Waiting");
    assert.equal(statusOf(simulation).phase, "Progressing");
    report(simulation);
    settle(simulation);
    report(simulation);
    settle(simulation);

    assert.equal(statusOf(simulation).reason, "GateWaiting");
    assert.match(
      statusOf(simulation).message ?? "",
      /the approval board.*1 group of changes in 1 cluster/,
    );
  });

  test("is planned again by a new leader, and not asked for again", () => {
    const simulation = started(simulatedClusters(3), twoAtATime);
    approve(simulation);
    report(simulation);
    simulation.plans.clear();
    simulation.isAnswering = false;

    assert.deepEqual(settle(simulation), []);
    assert.match(statusOf(simulation).message ?? "", /asks the agents of 2 clusters/);
    simulation.isAnswering = true;

    assert.deepEqual(settle(simulation), ["c01"]);
    assert.equal(records(simulation).length, 1);
  });

  test("does not hold for a cluster in which something else is installed by then", () => {
    const simulation = started(simulatedClusters(2), twoAtATime);
    approve(simulation);
    report(simulation);
    clusterOf(simulation, "c01").applied = "v0";

    assert.deepEqual(settle(simulation), []);

    assert.deepEqual(last(simulation).plan?.diffs, ["v0 to v2 "]);
  });

  test("is compared with what is live when it is older than a quarter of an hour", () => {
    const simulation = started(simulatedClusters(2), twoAtATime);
    approve(simulation);
    report(simulation);
    clusterOf(simulation, "c01").live = "x";
    pause(simulation, 16 * minutes);

    assert.deepEqual(settle(simulation), []);

    assert.deepEqual(last(simulation).plan?.diffs, ["v1 to v2 x"]);
  });

  test("ends after validFor, and what is left is asked for again", () => {
    const simulation = started([
      ...simulatedClusters(1),
      aSimulatedCluster("off", { isConnected: false }),
    ]);
    approve(simulation);
    report(simulation);
    settle(simulation);
    pause(simulation, 8 * 24 * 60 * minutes);
    clusterOf(simulation, "off").isConnected = true;

    assert.deepEqual(settle(simulation), []);

    assert.equal(last(simulation).plan?.number, 2);
    assert.equal(approve(simulation).length, 1);
  });

  test("an agent that makes no plans is named, and its cluster is not promoted", () => {
    const simulation = started([
      ...simulatedClusters(1),
      aSimulatedCluster("old", { isOutdated: true }),
    ]);
    assert.deepEqual(approve(simulation), ["c00"]);
    report(simulation);
    settle(simulation);

    assert.match(
      statusOf(simulation).message ?? "",
      /does not know what would change in 1 cluster: old: its agent is older/,
    );
    clusterOf(simulation, "old").isOutdated = false;
    pause(simulation, 2 * minutes);
    assert.deepEqual(settle(simulation), ["old"]);
  });

  test("a stage that is completed asks without a deadline, and stays completed", () => {
    const simulation = started(simulatedClusters(1));
    approve(simulation);
    report(simulation);
    settle(simulation);
    assert.equal(statusOf(simulation).phase, "Completed");

    simulation.clusters.set("new", aSimulatedCluster("new", { live: "x" }));
    assert.deepEqual(settle(simulation), []);
    assert.equal(last(simulation).expiresAt, undefined);
    const { phase, reason, message, since } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Completed", "GateWaiting"]);
    assert.equal(since, formatTimeMs(simulation.nowMs));
    assert.match(
      message ?? "",
      /^clusters that came late: waits for the approval board: 1 group of changes in 1 cluster of stage /,
    );
    decideGate(simulation, "board", "Failed");
    settle(simulation);

    assert.equal(statusOf(simulation).phase, "Completed");
    pause(simulation, 60 * minutes);
    assert.deepEqual(settle(simulation), []);
    assert.equal(last(simulation).plan?.number, 2);
    clusterOf(simulation, "new").live = "";
    pause(simulation, 60 * minutes);
    assert.deepEqual(settle(simulation), ["new"]);
  });

  test("a first installation is planned like any other", () => {
    const simulation = started([aSimulatedCluster("new", fresh)]);
    assert.deepEqual(last(simulation).plan?.diffs, [" to v2 "]);

    assert.deepEqual(approve(simulation), ["new"]);
    becomeReady(clusterOf(simulation, "new"));
    settle(simulation);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("is closed by a newer revision that starts over", () => {
    const simulation = started(simulatedClusters(2), { ...approved, onNewRevision: "Restart" });
    const { digest } = last(simulation);

    simulation.desired = "v3";
    settle(simulation);

    assert.notEqual(last(simulation).digest, digest);
    assert.deepEqual(last(simulation).plan?.diffs, ["v1 to v3 "]);
  });
});
