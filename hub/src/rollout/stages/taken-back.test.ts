/** Rollouts that are taken back: what they say meanwhile, and clusters that are not there. */
import assert from "node:assert/strict";
import { formatTimeMs } from "@flotilla/shared/time";
import { test } from "vitest";
import {
  command,
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

/** Three clusters, of which the last has failed: they go back one after the other. */
function rollingBack(): Simulation {
  const simulation = simulate(
    { stages: [{ name: "all" }], maxUnavailable: 1, onFailure: "Rollback" },
    simulatedClusters(3),
  );
  rounds(simulation, 2);
  const [, , failing] = simulation.clusters.values();
  assert.ok(failing !== undefined);
  settle(simulation);
  failing.hasGivenUp = true;
  settle(simulation);
  return simulation;
}

test("a rollback that is halted or paused says so, and goes on for the reason that it began with", () => {
  const simulation = rollingBack();
  assert.deepEqual(reasonsOf(simulation), ["RollingBack", "TooManyFailures"]);

  command(simulation, { state: "Halted" });
  pause(simulation, minutes);
  assert.deepEqual(settle(simulation), []);
  assert.deepEqual(reasonsOf(simulation), ["RollingBack", "Paused"]);
  assert.match(statusOf(simulation).message ?? "", /^halted by spec\.state: no cluster gets back/);
  assert.equal(statusOf(simulation).since, formatTimeMs(simulation.nowMs));
  command(simulation, { state: "Running" });
  simulation.isPaused = true;
  settle(simulation);
  assert.equal(statusOf(simulation).message, "paused: the rollback stands still");
  simulation.isPaused = false;
  settle(simulation);

  assert.deepEqual(reasonsOf(simulation), ["RollingBack", "TooManyFailures"]);
});

test("a newer revision that waits for a rollback is named", () => {
  const simulation = rollingBack();
  simulation.desired = "v3";
  settle(simulation);

  assert.match(
    statusOf(simulation).message ?? "",
    /; version v3 waits for the end of this rollback$/,
  );
});

test("clusters that have applied the revision and are offline go back when they return, within the limits", () => {
  const simulation = simulate(
    { stages: [{ name: "all" }], maxUnavailable: 1 },
    simulatedClusters(4),
  );
  for (let round = 0; round < 4; round += 1) rounds(simulation, 1);
  const away = [...simulation.clusters.values()].slice(1);
  for (const cluster of away) cluster.isConnected = false;
  command(simulation, { state: "RolledBack" });
  rounds(simulation, 3);

  assert.equal(statusOf(simulation).phase, "RolledBack");
  assert.match(
    statusOf(simulation).message ?? "",
    /; 3 clusters follow once connected: c01, c02, c03$/,
  );
  for (const cluster of away) cluster.isConnected = true;
  assert.deepEqual(settle(simulation), ["c01"]);
  assert.deepEqual(settle(simulation), []);
  report(simulation);
  assert.deepEqual(settle(simulation), ["c02"]);
});

function reasonsOf(simulation: Simulation): readonly unknown[] {
  const { phase, reason } = statusOf(simulation);
  return [phase, reason];
}

test("a cluster that no stage takes any more gets back what it had, too", () => {
  const simulation = simulate({ stages: [{ name: "all" }] }, simulatedClusters(3));
  rounds(simulation, 1);
  simulation.strategy = { stages: [{ name: "all", upTo: 1 }] };
  command(simulation, { state: "RolledBack" });
  rounds(simulation, 2);

  const revisions = [...simulation.clusters.values()].map(({ desired }) => desired);
  assert.deepEqual(revisions, ["v1", "v1", "v1"]);
  assert.equal(statusOf(simulation).phase, "RolledBack");
});
