/** Three replicas of the hub, of which one after the other is ended, killed and frozen while changes go on. One fleet. */
import assert from "node:assert/strict";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { workspaceNamespace } from "@flotilla/shared/api/names.ts";
import {
  bundleDeployments,
  bundles,
  clusterGroups,
  clusters,
  helmOps,
  policies,
} from "@flotilla/shared/api/resources.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects/object.ts";
import { afterAll, test } from "vitest";
import { helmOpThat } from "../testing/expect.ts";
import type { TestReplica } from "../testing/fleet.ts";
import {
  type ConditionChange,
  conditionChanges,
  type WithConditions,
} from "./condition-changes.ts";
import { createRecorder, type History, isRising, steps } from "./history.ts";
import { crowd, observed, openWorkbench, signal } from "./workbench.ts";

const bench = await openWorkbench();
afterAll(() => bench.close());
const { fleet, hub } = bench;
const { replicas } = fleet;
const [first, second] = fleet.clusters;
assert.ok(first !== undefined && second !== undefined);
const recorder = createRecorder(hub);
afterAll(() => recorder.stop());
const [ofHelmOps, ofBundles, ofClusters, ofDeployments] = await Promise.all([
  recorder.record(helmOps),
  recorder.record(bundles),
  recorder.record(clusters),
  recorder.record(bundleDeployments),
]);

/** A point in all histories. */
function mark() {
  return {
    helmOps: ofHelmOps.length,
    bundles: ofBundles.length,
    clusters: ofClusters.length,
    deployments: ofDeployments.length,
  };
}

/** Within this an agent that stays away is told to be Offline, and what is no verdict is told sooner. */
const tellingMs = 6_000;

/** What a leader decides by, of that which nobody else lists here: who leads anew trusts none of its watches. */
const decisive: readonly Resource<KubeObject>[] = [bundles, clusterGroups, policies];

const keyIn = (name: string) => `${workspaceNamespace}/${name}`;
const isThere = ({ status }: Cluster) => status?.agent?.connected === true;

/** Nothing that was newer was ever written over, and no cluster whose agent came back in time was called Offline. */
function assertNothingFlapped(from: ReturnType<typeof mark>, away: readonly string[] = []): void {
  for (const { name } of fleet.clusters) {
    const history = ofClusters.of(keyIn(name), from.clusters);
    assert.ok(
      isRising(history.map(({ status }) => status?.agent?.epoch ?? 0)),
      `epochs of ${name}`,
    );
    if (!away.includes(name))
      assert.deepEqual(steps(history, isThere), [true], `presence of ${name}`);
  }
  for (const name of ["still", "moving"]) {
    const history = ofHelmOps.of(keyIn(name), from.helmOps);
    assert.ok(isRising(history.map(observed)), `generations of ${name}`);
  }
  const reasons = ofHelmOps
    .of(keyIn("still"), from.helmOps)
    .map(({ status }) => findCondition(status?.conditions, "Ready")?.reason);
  if (away.length === 0) assert.deepEqual([...new Set(reasons)], ["Ready"]);
  assertContentsInOrder(ofDeployments, from.deployments);
}

/** What is carried out of each deployment is one content after the other, and none of them twice. */
function assertContentsInOrder(
  history: History<{
    metadata: { name: string; namespace?: string };
    status?: { appliedDeploymentID?: string | undefined };
  }>,
  from: number,
): void {
  const keys = new Set(
    history.since(from).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  );
  for (const key of keys) {
    const applied = steps(history.of(key, from), ({ status }) => status?.appliedDeploymentID ?? "");
    assert.equal(new Set(applied).size, applied.length, `contents of ${key}: ${applied.join(" ")}`);
  }
}

interface Told extends ConditionChange {
  /** Kind and name. */
  readonly of: string;
}

/** Every change of every condition of all objects, from a point on. */
function changedConditions(from: ReturnType<typeof mark>): readonly Told[] {
  return [
    ...changedIn("HelmOp", ofHelmOps, from.helmOps),
    ...changedIn("Bundle", ofBundles, from.bundles),
    ...changedIn("Cluster", ofClusters, from.clusters),
    ...changedIn("BundleDeployment", ofDeployments, from.deployments),
  ];
}

function changedIn(
  kind: string,
  history: History<KubeObject & WithConditions>,
  from: number,
): readonly Told[] {
  return history.keys.flatMap((key) =>
    conditionChanges(history.of(key, from)).map((change) => ({ of: `${kind} ${key}`, ...change })),
  );
}

/** What the conditions may say that speak of `moving` while it is rolled out. */
const inRollout: Readonly<Record<string, readonly string[]>> = {
  Ready: ["True ", "True Ready", "False WaitApplied", "False NotReady"],
  Reconciling: ["False ", "True WaitApplied", "True NotReady"],
};

/**
 * A leader that is told to end writes what waits, and then a change may have come that it has not looked at yet. It is the
 * one that may say so: what has been looked at does not become unknown again.
 */
const notLookedAtYet: readonly string[] = ["Unknown Progressing", "True Progressing"];

function isOfRollout({ type, after, hasNewSpec }: Told): boolean {
  return (
    inRollout[type]?.includes(after) === true || (hasNewSpec && notLookedAtYet.includes(after))
  );
}

/** Of `moving` and its clusters no more was told than that it was rolled out so many times, and of all else nothing. */
function assertToldOfRollouts(told: readonly Told[], rollouts: number): void {
  const moved = ({ of }: Told) => of.endsWith("/moving") || of.startsWith("Cluster ");
  assert.deepEqual(
    told.filter((change) => !(moved(change) && isOfRollout(change))),
    [],
  );
  for (const [of, changes = []] of Object.entries(Object.groupBy(told, ({ of }) => of))) {
    const left = changes.filter(
      ({ type, before }) => type === "Ready" && before.startsWith("True"),
    );
    // Each cluster is there in its own time, and HelmOp and Bundle may be Ready between the two.
    const most = /^(HelmOp|Bundle) /.test(of) ? rollouts * fleet.clusters.length : rollouts;
    assert.ok(left.length <= most, `${of} was ${left.length} times no longer Ready`);
  }
}

/** Ends each replica and starts it again, one after the other; how long it took each time until another led. */
async function restartInTurn(): Promise<readonly number[]> {
  const handedOnAfter: number[] = [];
  for (const replica of replicas) {
    const leader = await bench.leader();
    const stoppedAt = performance.now();
    const stopping = replica.stop();
    if (leader === replica) {
      await bench.leaderAfter(replica);
      handedOnAfter.push(performance.now() - stoppedAt);
    }
    await stopping;
    assert.equal(replica.process().exit()?.code, 0);
    await replica.start();
  }
  assert.ok(handedOnAfter.length > 0);
  return handedOnAfter;
}

/** Ends whoever leads, and whoever leads then as soon as it does; resolves once they are back. */
async function endTwoLeaders(): Promise<void> {
  const restarts: Promise<void>[] = [];
  for (let count = 0; count < 2; count += 1) {
    const leader = await bench.leader();
    restarts.push(leader.stop().then(() => leader.start()));
    await bench.leaderAfter(leader);
  }
  await Promise.all(restarts);
}

test("a rolling restart while nothing changes changes no condition of anything", async () => {
  const from = mark();
  await restartInTurn();
  await lasted(performance.now(), tellingMs);

  assertNothingFlapped(from);
  assert.deepEqual(
    [ofHelmOps, ofBundles, ofClusters, ofDeployments].map(({ keys }) => keys.length),
    [2 + crowd.length, 2 + crowd.length, 2, 4 + crowd.length],
    "what was looked at",
  );
  assert.deepEqual(changedConditions(from), []);
});

test("leaders that end as soon as they are elected, before they have looked at anything, change no condition either", async () => {
  const from = mark();
  for (let round = 0; round < 3; round += 1) await endTwoLeaders();
  await lasted(performance.now(), tellingMs);

  assertNothingFlapped(from);
  assert.deepEqual(changedConditions(from), []);
});

test("a rolling restart while HelmOps change loses no message, flaps no condition, and leadership is handed on at once", async () => {
  const from = mark();
  const before = await Promise.all(fleet.clusters.map((cluster) => bench.revisionIn(cluster)));
  let isOver = false;
  let changes = 0;
  const changing = (async () => {
    while (!isOver) {
      changes += 1;
      await bench.change();
      await bench.settled();
    }
  })();
  const handedOnAfter = await restartInTurn();
  isOver = true;
  await changing;

  assertNothingFlapped(from);
  assertToldOfRollouts(changedConditions(from), changes);
  for (const ms of handedOnAfter) assert.ok(ms < 2_000, `led on after ${Math.round(ms)} ms`);
  const revisions = await Promise.all(fleet.clusters.map((cluster) => bench.revisionIn(cluster)));
  assert.deepEqual(
    revisions,
    before.map((revision) => revision + changes),
    "each change was carried out once in each cluster",
  );
});

test("when the leader is killed another leads, and of its agents those that do not come back are offline", async () => {
  const leader = await bench.leader();
  const others = replicas.filter((replica) => replica !== leader);
  await bench.gatherAt(leader);
  const from = mark();
  const listed = await Promise.all(decisive.map(bench.listsOf));

  bench.sendAgentsTo(others);
  const killedAt = performance.now();
  signal(leader, "SIGKILL");
  process.kill(second.agent().identity.pid, "SIGKILL");
  await bench.change();
  await bench.leaderAfter(leader);
  const ledAfterMs = performance.now() - killedAt;
  const gone = await bench.clusterThat(second, "offline", (cluster) => !isThere(cluster));
  const offlineAfterMs = performance.now() - killedAt;
  const waiting = await helmOpThat(hub, "moving", "done where it can be", (helmOp) => {
    const ready = findCondition(helmOp.status?.conditions, "Ready");
    return ready?.reason === "Offline" && ready.observedGeneration === helmOp.metadata.generation;
  });
  const listedSince = await Promise.all(decisive.map(bench.listsOf));
  const still = await helmOpThat(
    hub,
    "still",
    "told of who is away",
    ({ status }) => status?.offlineClusterCount === 1,
  );

  for (const [index, { plural }] of decisive.entries())
    assert.ok((listedSince[index] ?? 0) > (listed[index] ?? 0), `${plural} were listed anew`);
  assert.ok(ledAfterMs < 15_000, `another led after ${Math.round(ledAfterMs)} ms`);
  assert.ok(offlineAfterMs < 30_000, `offline after ${Math.round(offlineAfterMs)} ms`);
  const since = gone.status?.agent?.lastSeen ?? "";
  assert.ok(Date.parse(since) > Date.now() - 60_000 && Date.parse(since) < Date.now() - 10_000);
  assertNothingFlapped(from, [second.name]);
  assert.equal(waiting.status?.display?.counts, "1 ready, 1 offline");
  assert.equal(findCondition(waiting.status.conditions, "Ready")?.status, "Unknown");
  assert.equal(findCondition(still.status?.conditions, "Ready")?.status, "True");
  assert.match(
    findCondition(still.status?.conditions, "Ready")?.message ?? "",
    new RegExp(`^1 cluster is offline, as last reported: .*${second.name} \\(since ${since}\\)$`),
  );
  const shown = await bench.clusterThat(
    second,
    "shown as offline",
    ({ status }) => status?.display?.state === "Offline",
  );
  assert.match(
    findCondition(shown.status?.conditions, "Ready")?.message ?? "",
    new RegExp(`not connected since ${since}`),
  );

  await Promise.all([leader.start(), second.startAgent()]);
  bench.sendAgentsTo(replicas);
  await bench.settled();
});

test("a leader that was frozen and wakes overwrites nothing, and its agents were never offline", async () => {
  const leader = await bench.leader();
  const others = replicas.filter((replica) => replica !== leader);
  await bench.gatherAt(leader);
  const from = mark();

  bench.sendAgentsTo(others);
  const frozen = leader.process();
  signal(leader, "SIGSTOP");
  const frozenAt = performance.now();
  await bench.leaderAfter(leader);
  await bench.change();
  await bench.settled();
  for (const cluster of fleet.clusters)
    await bench.clusterThat(
      cluster,
      "with another replica",
      ({ status }) => status?.agent?.replica !== leader.name,
    );
  await lasted(frozenAt, 30_000);
  await bench.change();
  signal(leader, "SIGCONT");
  const { code } = await frozen.exited;
  await bench.settled();
  await leader.start();
  await bench.change();
  await bench.settled();

  assert.equal(code, 1, "whoever lost the leadership ends");
  assertNothingFlapped(from);
  bench.sendAgentsTo(replicas);
});

test("a replica that does not lead is frozen: its agents go elsewhere, and what it wakes with changes nothing", async () => {
  const leader = await bench.leader();
  const follower = replicas.find((replica) => replica !== leader);
  assert.ok(follower !== undefined);
  await bench.gatherAt(follower);
  const from = mark();

  bench.sendAgentsTo(replicas.filter((replica) => replica !== follower));
  signal(follower, "SIGSTOP");
  await bench.change();
  await bench.settled();
  signal(follower, "SIGCONT");
  await bench.change();
  await bench.settled();

  assertNothingFlapped(from);
  await assertAnswers(follower);
});

/** Freezing takes as long as it takes, and that nothing is told is seen only while it could be. */
function lasted(since: number, ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, since + ms - performance.now())));
}

async function assertAnswers(replica: TestReplica): Promise<void> {
  const base = `http://127.0.0.1:${replica.ports.http}`;
  assert.equal((await fetch(`${base}/readyz`)).status, 200);
  const metrics = await (await fetch(`${base}/metrics`)).text();
  assert.match(metrics, /^flotilla_hub_replicas 3$/m);
  assert.match(metrics, /^flotilla_hub_leader 0$/m);
}
