/** Rollouts with limits, by a leader on an API server in memory. An observer reads only what the API server has. */
import assert from "node:assert/strict";
import {
  apiVersion,
  type Bundle,
  type BundleDeployment,
  bundleDeployments,
  bundles,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { clusterLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import fc from "fast-check";
import { test } from "vitest";
import { aCluster, aHelmOp, createTestLeader, workspace } from "../../testing/index.ts";
import { type RepositoryState, repo, resolverOf } from "./testing/index.ts";

/** Longer than any delay of a status. */
const settleMs = 1_200;
/** Longer than any delay of a reconcile. */
const reconcileMs = 200;

type Strategy = HelmOp["spec"]["rolloutStrategy"];

/** Clusters `c0` and so on, connected, those with an even number in staging. */
function start(count: number) {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  const { rest } = leader;
  let joined = 0;

  function join(): void {
    const name = `c${joined}`;
    const env = joined % 2 === 0 ? "staging" : "prod";
    joined += 1;
    const cluster = aCluster(name, {
      metadata: { uid: `uid-${name}`, labels: { env } },
      status: {},
    });
    rest.put(clusters, { ...cluster, apiVersion, kind: "Cluster" });
    setConnected(name, true);
  }

  function setConnected(name: string, connected: boolean): void {
    const before = rest.peek(clusters, { namespace: workspace, name });
    if (before === undefined) return;
    const agent = { connected, epoch: 1, lastSeen: "2025-12-24T18:00:00Z" };
    rest.put(clusters, { ...before, status: { ...before.status, agent } });
  }

  function setPaused(name: string, paused: boolean): void {
    const before = rest.peek(clusters, { namespace: workspace, name });
    if (before !== undefined) rest.put(clusters, { ...before, spec: { ...before.spec, paused } });
  }

  /** The HelmOp with these values, in all clusters. */
  function publish(replicas: number, rolloutStrategy: Strategy): void {
    const ref = { namespace: workspace, name: "web" };
    const before = rest.peek(helmOps, ref) ?? aHelmOp();
    const helm = { repo, chart: "web", version: "1.2.3", values: { replicas } };
    const targets = [{ clusterSelector: {} }];
    rest.put(helmOps, { ...before, spec: { helm, targets, rolloutStrategy } });
  }

  const deployments = (): readonly BundleDeployment[] =>
    rest.all(bundleDeployments).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const isConnected = (name: string) =>
    rest.peek(clusters, { namespace: workspace, name })?.status?.agent?.connected === true;

  /** Connected agents that `selects` apply what was promoted. */
  function report(selects: (name: string) => boolean = () => true): void {
    for (const deployment of deployments()) {
      const { deploymentID, paused } = deployment.spec;
      if (!isConnected(nameOf(deployment)) || paused === true || deploymentID === "") continue;
      if (!selects(nameOf(deployment))) continue;
      const status = { ...deployment.status, appliedDeploymentID: deploymentID, ready: true };
      rest.put(bundleDeployments, { ...deployment, status });
    }
  }

  /** Clusters that were updated and have not applied it yet. */
  const inFlight = (): readonly string[] =>
    deployments()
      .filter(({ spec, status }) => {
        const applied = status?.appliedDeploymentID ?? "";
        return applied !== "" && applied !== spec.deploymentID;
      })
      .map(nameOf);
  const bundle = (): Bundle | undefined =>
    rest.peek(bundles, { namespace: workspace, name: "web" });
  const message = (type: "Ready" | "Accepted", of: "Bundle" | "HelmOp" = "Bundle") => {
    const object =
      of === "Bundle" ? bundle() : rest.peek(helmOps, { namespace: workspace, name: "web" });
    return findCondition(object?.status?.conditions, type)?.message ?? "";
  };

  /** Time passes until nothing was written twice in a row: work in slices ends later on a busy machine. */
  async function untilQuiet(ms: number): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      const before = rest.writes.length;
      await leader.pass(ms);
      quiet = rest.writes.length === before ? quiet + 1 : 0;
    }
  }

  for (let index = 0; index < count; index += 1) join();
  return {
    leader,
    join,
    setConnected,
    setPaused,
    publish,
    report,
    inFlight,
    deployments,
    bundle,
    message,
    names: () => Array.from({ length: joined }, (_, index) => `c${index}`),
    settle: () => untilQuiet(settleMs),
    /** Everything is reconciled, and statuses may not be written yet. */
    reconciled: () => untilQuiet(reconcileMs),
  };
}

function nameOf({ metadata }: BundleDeployment): string {
  return metadata.labels?.[clusterLabel] ?? "";
}

test("partitions are updated one after the other, within their limits, and the status says how far it is", async () => {
  const fleet = start(6);
  const strategy = {
    partitions: [
      {
        name: "staging",
        maxUnavailable: 1,
        clusterSelector: { matchLabels: { env: "staging" } },
      },
      { name: "prod", maxUnavailable: 2, clusterName: "c1" },
    ],
  };
  fleet.publish(1, strategy);
  await fleet.settle();
  // First installations are not held, but prod is after staging.
  assert.deepEqual(fleet.deployments().map(nameOf), ["c0", "c2", "c4"]);
  fleet.report();
  await fleet.settle();
  fleet.report();
  await fleet.settle();
  assert.deepEqual(fleet.deployments().map(nameOf), ["c0", "c1", "c2", "c4"]);
  assert.match(
    fleet.message("Accepted"),
    /none of spec\.rolloutStrategy\.partitions takes 2 clusters \(c3, c5\): nothing is deployed there/,
  );

  fleet.publish(2, strategy);
  await fleet.settle();
  assert.deepEqual(fleet.inFlight(), ["c0"]);
  const { status } = fleet.bundle() ?? {};
  assert.deepEqual(
    status?.partitions?.map(({ name, count, maxUnavailable, unavailable }) => ({
      ...{ name, count, maxUnavailable, unavailable },
    })),
    [
      { name: "staging", count: 3, maxUnavailable: 1, unavailable: 3 },
      { name: "prod", count: 1, maxUnavailable: 1, unavailable: 0 },
    ],
  );
  assert.equal(status.unavailable, 1);
  assert.equal(status.summary?.outOfSync, 3);
  const waits =
    /^rollout: 3 clusters wait for their turn, partition staging has as many unavailable clusters as its maxUnavailable allows, 1; /;
  assert.match(fleet.message("Ready"), waits);
  assert.match(fleet.message("Ready", "HelmOp"), waits);

  const order: (readonly string[])[] = [];
  while (fleet.inFlight().length > 0) {
    order.push(fleet.inFlight());
    fleet.report();
    await fleet.settle();
  }
  assert.deepEqual(order, [["c0"], ["c2"], ["c4", "c1"].sort()]);
  assert.equal(fleet.bundle()?.status?.unavailable, 0);
  await fleet.leader.stop();
});

test("[1.3] a cluster in no partition that has no deployment never gets one, and is counted Pending", async () => {
  const fleet = start(4);
  const staging = { name: "staging", clusterSelector: { matchLabels: { env: "staging" } } };
  fleet.publish(1, { partitions: [staging] });
  await fleet.settle();
  fleet.report();
  await fleet.settle();

  assert.deepEqual(fleet.deployments().map(nameOf), ["c0", "c2"]);
  const { desiredReady, ready, pending = 0, notReady = 0 } = fleet.bundle()?.status?.summary ?? {};
  assert.deepEqual([desiredReady, ready, pending, notReady], [4, 2, 2, 0]);
  await fleet.leader.stop();
});

test("a strategy that is removed lets everything through, and its numbers go", async () => {
  const fleet = start(5);
  fleet.publish(1, { maxUnavailable: 1 });
  await fleet.settle();
  fleet.report();
  await fleet.settle();
  fleet.publish(2, { maxUnavailable: 1 });
  await fleet.settle();
  assert.deepEqual(fleet.inFlight(), ["c0"]);

  fleet.publish(2, undefined);
  await fleet.settle();

  assert.equal(fleet.inFlight().length, 5);
  assert.equal(fleet.bundle()?.status?.partitions, undefined);
  assert.equal(fleet.bundle()?.status?.maxUnavailable, undefined);
  await fleet.leader.stop();
});

test("a cluster that comes back is updated within the limit, without any other change", async () => {
  const fleet = start(3);
  fleet.publish(1, { maxUnavailable: 1 });
  await fleet.settle();
  fleet.report();
  fleet.setConnected("c0", false);
  await fleet.settle();
  fleet.publish(2, { maxUnavailable: 1 });
  await fleet.settle();
  assert.deepEqual(fleet.inFlight(), ["c1"]);
  fleet.report();
  await fleet.settle();
  fleet.report();
  await fleet.settle();
  assert.deepEqual(fleet.inFlight(), []);

  fleet.setConnected("c0", true);
  await fleet.settle();

  assert.deepEqual(fleet.inFlight(), ["c0"]);
  await fleet.leader.stop();
});

type Step =
  | { readonly kind: "report" | "offline" | "online" | "pause" | "resume"; readonly of: number }
  | { readonly kind: "join" | "revision" | "drop" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(["report", "report", "offline", "online", "pause", "resume"] as const),
      ),
      of: fc.nat({ max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom(...(["join", "revision", "drop"] as const)) }),
  },
);

test("no history of a fleet exceeds its limit under any leader, and each ends with the newest revision everywhere", async () => {
  const strategy = { maxUnavailable: 2 };
  const histories = fc.array(step, { minLength: 8, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const fleet = start(5);
      let revision = 1;
      const check = () => assert.ok(fleet.inFlight().length <= 2, fleet.inFlight().join());
      const { rest } = fleet.leader;
      fleet.publish(revision, strategy);
      await fleet.reconciled();
      fleet.report();
      await fleet.reconciled();
      rest.beforeWrite = check;
      for (const each of steps) {
        const of = "of" in each ? `c${each.of}` : "";
        if (each.kind === "report") fleet.report((name) => name === of);
        else if (each.kind === "offline" || each.kind === "online")
          fleet.setConnected(of, each.kind === "online");
        else if (each.kind === "pause" || each.kind === "resume")
          fleet.setPaused(of, each.kind === "pause");
        else if (each.kind === "join") fleet.join();
        else if (each.kind === "drop") await fleet.leader.drop();
        else {
          revision += 1;
          fleet.publish(revision, strategy);
        }
        await fleet.reconciled();
        check();
      }
      for (const name of fleet.names()) {
        fleet.setConnected(name, true);
        fleet.setPaused(name, false);
      }
      for (let rounds = 0; rounds < fleet.names().length + 3; rounds += 1) {
        await fleet.reconciled();
        fleet.report();
      }
      await fleet.reconciled();
      rest.beforeWrite = () => undefined;

      const all = fleet.deployments();
      assert.equal(all.length, fleet.names().length);
      assert.equal(new Set(all.map(({ spec }) => spec.stagedDeploymentID)).size, 1);
      for (const { spec } of all) assert.equal(spec.deploymentID, spec.stagedDeploymentID);
      await fleet.leader.stop();
    }),
    { numRuns: 6, endOnFailure: true },
  );
});
