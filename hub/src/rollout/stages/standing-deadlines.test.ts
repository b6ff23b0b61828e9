/** Clusters that wait for others, or are paused: their deadlines stand still, and the sentence says for whom they wait. */
import assert from "node:assert/strict";
import { test } from "vitest";
import {
  minutes,
  pause,
  settle,
  simulate,
  simulatedClusters,
  statusOf,
  waitForDependency,
} from "./testing/index.ts";

test("clusters that wait for a dependency hold their places, and their deadline stands still", () => {
  const simulation = simulate(
    { stages: [{ name: "all" }], maxUnavailable: 1 },
    simulatedClusters(2),
  );
  settle(simulation);
  const [first] = simulation.clusters.values();
  assert.ok(first !== undefined);
  waitForDependency(simulation, first, true);
  settle(simulation);
  pause(simulation, 60 * minutes);

  assert.deepEqual(settle(simulation), []);
  const { phase, reason, message } = statusOf(simulation);
  assert.deepEqual([phase, reason], ["Waiting", "DependencyNotReady"]);
  assert.equal(message, "stage all waits for dependencies in 1 cluster: c00");
  waitForDependency(simulation, first, false);
  assert.deepEqual(settle(simulation), []);
  assert.equal(statusOf(simulation).phase, "Progressing");
  pause(simulation, 14 * minutes);
  settle(simulation);
  assert.equal(statusOf(simulation).phase, "Progressing");
  pause(simulation, 2 * minutes);
  settle(simulation);
  assert.equal(statusOf(simulation).phase, "Halted");
});

test("a cluster that waits for a dependency stops no deadline but its own", () => {
  const simulation = simulate({ stages: [{ name: "all" }] }, simulatedClusters(2));
  settle(simulation);
  const [first] = simulation.clusters.values();
  assert.ok(first !== undefined);
  waitForDependency(simulation, first, true);
  settle(simulation);
  pause(simulation, 16 * minutes);
  settle(simulation);

  const { phase, breach, clusters } = statusOf(simulation);
  assert.deepEqual([phase, breach?.failed, clusters?.inFlight], ["Halted", 1, 1]);
});

test("a cluster that was paused in flight for longer than its deadline has not failed when it goes on", () => {
  const simulation = simulate({ stages: [{ name: "all" }] }, simulatedClusters(1));
  settle(simulation);
  const [cluster] = simulation.clusters.values();
  assert.ok(cluster !== undefined);
  cluster.isPaused = true;
  settle(simulation);
  pause(simulation, 60 * minutes);
  cluster.isPaused = false;
  settle(simulation);
  assert.equal(statusOf(simulation).phase, "Progressing");
  pause(simulation, 14 * minutes);
  settle(simulation);
  assert.equal(statusOf(simulation).phase, "Progressing");
  pause(simulation, 2 * minutes);
  settle(simulation);

  assert.equal(statusOf(simulation).phase, "Halted");
});

test("the dependency is named that clusters wait for, with what keeps its rollout", () => {
  const simulation = simulate({ stages: [{ name: "all" }] }, simulatedClusters(2));
  settle(simulation);
  for (const cluster of simulation.clusters.values()) {
    cluster.dependencies = ["database"];
    waitForDependency(simulation, cluster, true);
  }
  settle(simulation);
  assert.equal(
    statusOf(simulation).message,
    "stage all waits for database in 2 clusters: c00, c01",
  );

  const [cluster] = simulation.clusters.values();
  assert.ok(cluster !== undefined);
  cluster.dependencies = Array.from({ length: 9 }, (_, index) => `x${index}`);
  for (const name of cluster.dependencies) simulation.dependencyProblems.set(name, `${name} waits`);
  settle(simulation);
  assert.equal(
    statusOf(simulation).message,
    "stage all waits for database, x0, x1, … in 2 clusters: c00, c01; x0 waits; x1 waits",
  );

  for (const each of simulation.clusters.values()) each.dependencies = ["database"];
  simulation.dependencyProblems.set("database", "the rollout database-3 is halted");
  settle(simulation);
  assert.match(statusOf(simulation).message ?? "", /: c00, c01; the rollout database-3 is halted$/);
});
