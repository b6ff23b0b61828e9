/**
 * Three replicas of the hub that are restarted while nothing changes, and frozen for longer than a Lease lasts. Both take
 * time: that nothing is written is only observed over some seconds.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import type { TestReplica } from "../src/harness/processes.ts";
import { observe } from "../src/replicas/observations.ts";
import { signal, startReplicatedFleet } from "../src/replicas/replicated-fleet.ts";

const unchanged = 60;
const replicated = await startReplicatedFleet(unchanged);
const observations = await observe(replicated);
const { fleet } = replicated;
const { replicas } = fleet;

/** Longer than it takes until an agent that does not reconnect is reported as offline. */
const offlineAfterMs = 6_000;
/** Longer than the Lease of a replica lasts. */
const frozenMs = 30_000;

/** Stops the leader, and the next one as soon as it is elected; resolves once both are back. */
async function stopTwoLeaders(): Promise<void> {
  const restarts: Promise<void>[] = [];
  for (let count = 0; count < 2; count += 1) {
    const leader = await replicated.leader();
    restarts.push(leader.stop().then(() => leader.start()));
    await replicated.leaderAfter(leader);
  }
  await Promise.all(restarts);
}

test("a rolling restart while nothing changes changes no condition of any object", async () => {
  const from = observations.now();
  await replicated.rollingRestart();
  await sleep(offlineAfterMs);

  observations.assertNothingFlapped(from);
  assert.deepEqual(
    observations.objectCounts,
    [2 + unchanged, 2 + unchanged, 2, 4 + unchanged],
    "all objects were observed",
  );
  assert.deepEqual(observations.conditionChanges(from), []);
});

test("leaders that are stopped right after their election, before they have reconciled all objects, change no condition", async () => {
  const from = observations.now();
  for (let round = 0; round < 3; round += 1) await stopTwoLeaders();
  await sleep(offlineAfterMs);

  observations.assertNothingFlapped(from);
  assert.deepEqual(observations.conditionChanges(from), []);
});

test("a frozen leader that continues overwrites nothing, and its agents were never offline", async () => {
  const leader = await replicated.leader();
  const others = replicas.filter((replica) => replica !== leader);
  await replicated.connectAgentsTo(leader);
  const from = observations.now();

  replicated.routeAgentsTo(others);
  const frozen = leader.process();
  signal(leader, "SIGSTOP");
  const frozenFor = sleep(frozenMs);
  await replicated.leaderAfter(leader);
  await replicated.change();
  await replicated.settled();
  for (const cluster of fleet.clusters)
    await replicated.clusterThat(
      cluster,
      "connected to another replica",
      ({ status }) => status?.agent?.replica !== leader.name,
    );
  await frozenFor;
  await replicated.change();
  signal(leader, "SIGCONT");
  const { code } = await frozen.exited;
  await replicated.settled();
  await leader.start();
  await replicated.change();
  await replicated.settled();

  assert.equal(code, 1, "a replica that has lost its leadership ends");
  observations.assertNothingFlapped(from);
  replicated.routeAgentsTo(replicas);
});

test("a frozen replica that does not lead loses its agents to the others, and writes nothing stale when it continues", async () => {
  const leader = await replicated.leader();
  const follower = replicas.find((replica) => replica !== leader);
  assert.ok(follower !== undefined);
  await replicated.connectAgentsTo(follower);
  const from = observations.now();

  replicated.routeAgentsTo(replicas.filter((replica) => replica !== follower));
  signal(follower, "SIGSTOP");
  await replicated.change();
  await replicated.settled();
  signal(follower, "SIGCONT");
  await replicated.change();
  await replicated.settled();

  observations.assertNothingFlapped(from);
  await assertServes(follower);
});

async function assertServes(replica: TestReplica): Promise<void> {
  const base = `http://127.0.0.1:${replica.ports.internal}`;
  assert.equal((await fetch(`${base}/readyz`)).status, 200);
  const metrics = await (await fetch(`${base}/metrics`)).text();
  assert.match(metrics, /^flotilla_hub_replicas 3$/m);
  assert.match(metrics, /^flotilla_hub_leader 0$/m);
}
