/** Three replicas of the hub: a rolling restart during rollouts, and a leader that is killed. */
import assert from "node:assert/strict";
import { bundles, clusterGroups, policies } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { messageOf } from "../harness/wait.ts";
import { isConnected, observe } from "./observations.ts";
import { signal, startReplicatedFleet } from "./replicated-fleet.ts";

const replicated = await startReplicatedFleet(3);
const observations = await observe(replicated);
const { fleet } = replicated;
const { replicas } = fleet;
const [first, second] = fleet.clusters;
assert.ok(first !== undefined && second !== undefined);

/** Kinds that the leader watches and that no other client lists here: a newly elected leader lists them again. */
const decisive: readonly Resource<KubeObject>[] = [bundles, clusterGroups, policies];

test("a rolling restart while HelmOps change loses no message, flaps no condition, and each failover takes at most 2 s", async () => {
  const from = observations.now();
  const before = await Promise.all(fleet.clusters.map(replicated.revisionIn));
  let isOver = false;
  let changes = 0;
  const changing = (async () => {
    while (!isOver) {
      changes += 1;
      await replicated.change();
      await replicated.settled();
    }
  })();
  const failoverMs = await replicated.rollingRestart();
  isOver = true;
  await changing;

  observations.assertNothingFlapped(from);
  observations.assertRollouts(from, changes);
  for (const ms of failoverMs) assert.ok(ms < 2_000, `failover took ${Math.round(ms)} ms`);
  assert.deepEqual(
    await Promise.all(fleet.clusters.map(replicated.revisionIn)),
    before.map((revision) => revision + changes),
    "each change was installed once in each cluster",
  );
});

test("when the leader is killed another is elected, and those of its agents that do not reconnect are offline", async () => {
  const leader = await replicated.leader();
  const others = replicas.filter((replica) => replica !== leader);
  await replicated.connectAgentsTo(leader);
  const connectedAt = Date.now();
  const from = observations.now();
  const listed = await Promise.all(decisive.map(replicated.listsOf));

  replicated.routeAgentsTo(others);
  const killedAt = Date.now();
  signal(leader, "SIGKILL");
  process.kill(second.agent().identity.pid, "SIGKILL");
  await replicated.change();
  await replicated.leaderAfter(leader);
  const ledAfterMs = Date.now() - killedAt;
  const offline = await replicated.clusterThat(
    second,
    "offline",
    (cluster) => !isConnected(cluster),
  );
  const offlineAfterMs = Date.now() - killedAt;
  const waiting = await fleet.workspace.waitForHelmOp(
    "moving",
    "ready in the clusters that are online",
    (helmOp) => {
      const ready = findCondition(helmOp.status?.conditions, "Ready");
      return ready?.reason === "Offline" && ready.observedGeneration === helmOp.metadata.generation;
    },
  );
  const listedSince = await Promise.all(decisive.map(replicated.listsOf));
  const still = await fleet.workspace.waitForHelmOp(
    "still",
    "naming the offline cluster",
    ({ status }) => status?.offlineClusterCount === 1,
  );

  for (const [index, { plural }] of decisive.entries())
    assert.ok((listedSince[index] ?? 0) > (listed[index] ?? 0), `${plural} were listed again`);
  assert.ok(ledAfterMs < 15_000, `another led after ${Math.round(ledAfterMs)} ms`);
  assert.ok(offlineAfterMs < 30_000, `offline after ${Math.round(offlineAfterMs)} ms`);
  const since = offline.status?.agent?.lastSeen ?? "";
  // Written in whole seconds, and by a heartbeat from before it was connected at the earliest.
  assert.ok(Date.parse(since) <= killedAt + 1_000, `last seen at ${since}`);
  assert.ok(Date.parse(since) > connectedAt - 30_000, `last seen at ${since}`);
  observations.assertNothingFlapped(from, [second.name]);
  assert.equal(waiting.status?.display?.counts, "1 ready, 1 offline");
  assert.equal(findCondition(waiting.status.conditions, "Ready")?.status, "Unknown");
  assert.equal(findCondition(still.status?.conditions, "Ready")?.status, "True");
  assert.match(
    messageOf(still, "Ready"),
    new RegExp(`^1 cluster is offline, as last reported: .*${second.name} \\(since ${since}\\)$`),
  );
  const shown = await replicated.clusterThat(
    second,
    "shown as offline",
    ({ status }) => status?.display?.state === "Offline",
  );
  assert.match(messageOf(shown, "Ready"), new RegExp(`not connected since ${since}`));

  await Promise.all([leader.start(), second.startAgent()]);
  replicated.routeAgentsTo(replicas);
  await replicated.settled();
});
