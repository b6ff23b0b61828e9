/** Cases that are decided in the specification of staged rollouts, a test each. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { test } from "vitest";
import {
  aSimulatedCluster,
  becomeReady,
  command,
  currentOf,
  decideGate,
  minutes,
  pause,
  report,
  rounds,
  type Simulation,
  settle,
  simulate,
  simulatedClusters,
  statusOf,
} from "./testing/index.ts";

const canary = { clusterSelector: { matchLabels: { canary: "true" } } };

/** A canary, an approval, and the rest, one at a time. */
const strategy: RolloutStrategy = {
  maxUnavailable: 1,
  stages: [
    { name: "canary", ...canary },
    { name: "prod", before: [{ name: "board", approval: {} }] },
  ],
};

/** v1 is rolled out everywhere, and the rollout of v2 waits for its approval. */
function waiting(): Simulation {
  const simulation = simulate(strategy, [
    aSimulatedCluster("ams", { labels: { canary: "true" } }),
    ...simulatedClusters(3),
  ]);
  simulation.desired = "v1";
  settle(simulation);
  simulation.desired = "v2";
  rounds(simulation, 2);
  assert.equal(statusOf(simulation).reason, "GateWaiting");
  return simulation;
}

function revisions({ clusters }: Simulation): readonly string[] {
  return [...clusters.values()].map(({ desired }) => desired);
}

test("a new revision in mid rollout waits, only the newest, and is named with what starts it instead", () => {
  const simulation = waiting();
  simulation.desired = "v3";
  settle(simulation);
  const { since } = statusOf(simulation);
  pause(simulation, minutes);
  simulation.desired = "v4";

  assert.deepEqual(settle(simulation), []);
  const { next, message, phase } = statusOf(simulation);
  assert.equal(next?.revision, "v4");
  assert.match(
    message ?? "",
    /version v4 waits for the end of this rollout: set spec\.state to Cancelled/,
  );
  assert.deepEqual([phase, statusOf(simulation).since], ["Waiting", since]);
  assert.equal(simulation.rollouts.length, 2);
});

test("what waits starts when the rollout is completed", () => {
  const simulation = waiting();
  simulation.desired = "v3";
  settle(simulation);
  decideGate(simulation, "board", "Passed");
  rounds(simulation, 4);

  assert.equal(currentOf(simulation).spec.revision, "v3");
  assert.equal(statusOf(simulation).stable, "v2");
});

test("what waits starts when a person cancels the rollout", () => {
  const simulation = waiting();
  simulation.desired = "v3";
  settle(simulation);
  command(simulation, { state: "Cancelled" });

  assert.deepEqual(settle(simulation), ["ams"]);
  assert.equal(currentOf(simulation).spec.revision, "v3");
  assert.equal(statusOf(simulation).stable, "v1");
});

test("with onNewRevision Restart it starts over with the newer revision", () => {
  const simulation = waiting();
  simulation.strategy = { ...strategy, onNewRevision: "Restart" };
  simulation.desired = "v3";

  assert.deepEqual(settle(simulation), ["ams"]);
  assert.deepEqual(
    simulation.rollouts.map(({ status }) => status?.phase),
    ["Completed", "Superseded", "Progressing"],
  );
});

test("a halted rollout yields at once to what fixes it", () => {
  const simulation = waiting();
  decideGate(simulation, "board", "Failed");
  settle(simulation);
  assert.equal(statusOf(simulation).phase, "Halted");
  simulation.desired = "v3";

  assert.deepEqual(settle(simulation), ["ams"]);
  assert.equal(currentOf(simulation).spec.revision, "v3");
  assert.equal(statusOf(simulation).stable, "v1");
});

test("back to the stable revision: taken back at once, without gates", () => {
  const simulation = waiting();
  simulation.desired = "v1";

  assert.deepEqual(settle(simulation), ["ams"]);
  report(simulation);
  assert.deepEqual(settle(simulation), []);
  assert.deepEqual(revisions(simulation), ["v1", "v1", "v1", "v1"]);
  assert.equal(statusOf(simulation).phase, "Superseded");
  assert.equal(statusOf(simulation).reason, "StableRequested");
});

test("and forward again: the revision is rolled out from its first stage", () => {
  const simulation = waiting();
  simulation.desired = "v1";
  rounds(simulation, 2);
  simulation.desired = "v2";

  assert.deepEqual(settle(simulation), ["ams"]);
  assert.equal(simulation.rollouts.length, 3);
});

test("limits that change in mid rollout apply at once", () => {
  const simulation = waiting();
  decideGate(simulation, "board", "Passed");
  assert.deepEqual(rounds(simulation, 1), [["c00"]]);
  simulation.strategy = { ...strategy, maxUnavailable: 2 };

  assert.deepEqual(settle(simulation), ["c01", "c02"]);
});

test("completed stages stay completed, and a new stage before the current one comes first", () => {
  const simulation = waiting();
  const [first, last] = strategy.stages ?? [];
  assert.ok(first !== undefined && last !== undefined);
  simulation.clusters.set("lab", aSimulatedCluster("lab", { labels: { lab: "true" } }));
  simulation.strategy = {
    ...strategy,
    stages: [first, { name: "lab", clusterSelector: { matchLabels: { lab: "true" } } }, last],
  };

  assert.deepEqual(settle(simulation), ["lab"]);
  assert.deepEqual(
    statusOf(simulation).stages?.map(({ name, phase }) => [name, phase]),
    [
      ["canary", "Completed"],
      ["lab", "Progressing"],
      ["prod", "Gated"],
    ],
  );
});

test("a cluster that was offline catches up later, under the limits of its stage", () => {
  const clusters = simulatedClusters(4);
  for (const each of clusters.slice(1)) each.isConnected = false;
  const simulation = simulate({ stages: [{ name: "all" }], maxUnavailable: 1 }, clusters);
  rounds(simulation, 2);
  assert.equal(statusOf(simulation).phase, "Completed");

  for (const each of clusters) each.isConnected = true;

  assert.deepEqual(rounds(simulation, 4), [["c01"], ["c02"], ["c03"], []]);
  assert.equal(statusOf(simulation).phase, "Completed");
});

test("a revision whose rollout was taken back is not started again by itself", () => {
  const simulation = waiting();
  command(simulation, { state: "RolledBack" });
  rounds(simulation, 2);
  assert.equal(statusOf(simulation).phase, "RolledBack");
  pause(simulation, 60 * minutes);

  assert.deepEqual(settle(simulation), []);
  assert.equal(simulation.rollouts.length, 2);
});

test("a BundleRollout that somebody deletes: the revision starts again", () => {
  const simulation = waiting();
  simulation.rollouts = simulation.rollouts.slice(0, 1);

  settle(simulation);

  assert.equal(simulation.rollouts.length, 2);
  assert.equal(currentOf(simulation).spec.revision, "v2");
  assert.equal(statusOf(simulation).reason, "GateWaiting");
});

test("a clock that is set back makes nothing earlier", () => {
  const simulation = waiting();
  decideGate(simulation, "board", "Passed");
  settle(simulation);
  const { startedAt } = statusOf(simulation);
  pause(simulation, -60 * minutes);

  for (const cluster of simulation.clusters.values()) becomeReady(cluster);
  assert.deepEqual(settle(simulation), ["c01"]);
  assert.equal(statusOf(simulation).startedAt, startedAt);
  assert.ok((statusOf(simulation).since ?? "") >= (startedAt ?? ""));
});

test("clusters that have the revision already are not asked for again: the rollout is completed at once", () => {
  const simulation = simulate(strategy, simulatedClusters(3));
  simulation.desired = "v1";

  assert.deepEqual(settle(simulation), []);
  assert.equal(statusOf(simulation).phase, "Completed");
});

test("skipped clusters and stages are passed over", () => {
  const simulation = waiting();
  command(simulation, { skipStages: ["prod"] });
  settle(simulation);

  assert.equal(statusOf(simulation).phase, "Completed");
  assert.deepEqual(revisions(simulation), ["v2", "v1", "v1", "v1"]);
  assert.equal(statusOf(simulation).clusters?.skipped, 3);
});

test("a stage that was passed over while it soaked soaks again for the clusters that it has later", () => {
  const soaking: RolloutStrategy = {
    stages: [
      {
        name: "canary",
        ...canary,
        allowEmpty: true,
        after: [{ name: "soak", soak: { for: "10m" } }],
      },
      { name: "rest", before: [{ name: "board", approval: {} }] },
    ],
  };
  const simulation = simulate(soaking, [
    aSimulatedCluster("ams", { labels: { canary: "true" } }),
    ...simulatedClusters(2),
  ]);
  simulation.desired = "v2";
  settle(simulation);
  const [ams, other] = [...simulation.clusters.values()];
  assert.ok(ams !== undefined && other !== undefined);
  becomeReady(ams);
  settle(simulation);
  assert.equal(statusOf(simulation).stages?.[0]?.phase, "Soaking");
  ams.labels = {};
  settle(simulation);
  assert.equal(statusOf(simulation).stages?.[0]?.phase, "Skipped");
  pause(simulation, 60 * minutes);
  other.labels = { canary: "true" };
  settle(simulation);
  becomeReady(other);
  settle(simulation);

  assert.equal(statusOf(simulation).stages?.[0]?.phase, "Soaking");
  pause(simulation, 10 * minutes);
  settle(simulation);
  assert.equal(statusOf(simulation).stages?.[0]?.phase, "Completed");
});

test("halted by a person it says so, and no more what it waited for before", () => {
  const simulation = waiting();
  assert.match(statusOf(simulation).message ?? "", /waits for the approval/);

  command(simulation, { state: "Halted" });
  settle(simulation);

  const { phase, message = "" } = statusOf(simulation);
  assert.equal(phase, "Halted");
  assert.match(message, /^halted by spec\.state: .* run flotilla rollout resume$/);
});

test("stages that were begun are rolled back with their clusters", () => {
  const simulation = waiting();

  command(simulation, { state: "RolledBack" });
  rounds(simulation, 3);

  assert.deepEqual(
    statusOf(simulation).stages?.map(({ phase }) => phase),
    ["RolledBack", "RolledBack"],
  );
});

test("a gate that fails and is asked for again many times keeps its newest records", () => {
  const simulation = waiting();
  for (let round = 0; round < 10; round += 1) {
    decideGate(simulation, "board", "Failed");
    settle(simulation);
    command(simulation, { resume: `again-${round}` });
    settle(simulation);
    settle(simulation);
  }
  const { gates = [] } = statusOf(simulation).stages?.find(({ name }) => name === "prod") ?? {};

  assert.equal(gates.length, 4);
  assert.equal(gates.at(-1)?.result, "Waiting");
  assert.deepEqual(new Set(gates.map(({ gate }) => gate)).size, 4);
});

test("a stage with fewer clusters than minSuccess says what to change", () => {
  const simulation = simulate({ stages: [{ name: "all", minSuccess: 2 }] }, simulatedClusters(1));
  rounds(simulation, 2);

  assert.equal(
    statusOf(simulation).message,
    "stage all: 1 of 2 done, and it has no more clusters: lower minSuccess, or add clusters to it",
  );
});
