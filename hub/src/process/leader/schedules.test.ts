/** Schedules with all controllers of a leader: what they open and close, through restarts, edits and clusters that join. */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  bundles,
  clusters,
  helmOps,
  type Schedule,
  schedules,
} from "@flotilla/shared/api";
import { clusterNamespaceName, fleetScheduleFinalizer } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, type TestContext, test } from "vitest";
import { aHelmOp, aSchedule, createTestLeader, workspace } from "../../testing/index.ts";
import { applyStep, type RepositoryState, repo, resolverOf } from "./testing/index.ts";

const quietMs = 3_000;
const beforeOpening = "2026-03-01T21:59:30Z";
const inWindow = "2026-03-01T22:20:00Z";
const beforeClosing = "2026-03-01T22:59:30Z";

/** A fleet of the cluster paris with the HelmOp `web`, at a time. */
async function startAt(
  t: TestContext,
  at: string,
  list: readonly Schedule[] = [aSchedule("nights")],
) {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  t.onTestFinished(() => leader.stop());
  const { rest, clock } = leader;
  clock.setWallTime(Date.parse(at));
  for (const schedule of list) rest.put(schedules, schedule);
  const apply = (step: Parameters<typeof applyStep>[2]) => applyStep(leader, repository, step);
  apply({ kind: "cluster", name: "paris", presence: "join" });
  rest.put(
    helmOps,
    aHelmOp({
      helm: { repo, chart: "web", version: "1.2.3" },
      targets: [{ clusterSelector: {} }],
    }),
  );
  await leader.pass(quietMs);
  const ref = (name: string) => ({ namespace: workspace, name });
  return {
    leader,
    rest,
    clock,
    apply,
    cluster: (name = "paris") => rest.peek(clusters, ref(name))?.status,
    schedule: (name = "nights") => rest.peek(schedules, ref(name)),
    deployment: (name = "paris") =>
      rest.peek(bundleDeployments, {
        namespace: clusterNamespaceName(workspace, name),
        name: "web",
      }),
    accepted: () =>
      findCondition(rest.peek(bundles, ref("web"))?.status?.conditions, "Accepted")?.message,
    edit(change: Schedule["spec"], name = "nights") {
      const before = rest.peek(schedules, ref(name));
      assert.ok(before !== undefined);
      rest.put(schedules, { ...before, spec: { ...before.spec, ...change } });
    },
    /** Another version of the chart's values, which is another content. */
    change(values: Readonly<Record<string, unknown>>) {
      const before = rest.peek(helmOps, ref("web"));
      assert.ok(before !== undefined);
      rest.put(helmOps, {
        ...before,
        spec: { ...before.spec, helm: { ...before.spec.helm, values } },
      });
    },
  };
}

test("a cluster gets what waits for it when its window opens, and nothing before", async (t) => {
  const fleet = await startAt(t, beforeOpening);

  assert.deepEqual([fleet.cluster()?.scheduled, fleet.cluster()?.activeSchedule], [true, false]);
  assert.equal(fleet.deployment()?.spec.deploymentID, "");
  assert.match(fleet.deployment()?.spec.stagedDeploymentID ?? "", /^sha256:/);
  assert.match(
    fleet.accepted() ?? "",
    /not changed: paris; the next window opens at 2026-03-01T22:00:00Z$/,
  );
  const { conditions: _, ...closed } = fleet.schedule()?.status ?? {};
  assert.deepEqual(closed, {
    active: false,
    nextStartTime: "2026-03-01T22:00:00Z",
    matchingClusters: ["paris"],
    clusterCount: 1,
  });

  await fleet.leader.pass(30_000);

  assert.equal(fleet.cluster()?.activeSchedule, true);
  const { deploymentID, stagedDeploymentID } = fleet.deployment()?.spec ?? {};
  assert.equal(deploymentID, stagedDeploymentID);
  assert.equal(fleet.accepted(), "");
  assert.equal(fleet.schedule()?.status?.active, true);
  assert.equal(fleet.schedule()?.status?.nextStartTime, "2026-03-02T22:00:00Z");
});

test("an open window costs one write of each Cluster when it closes, and none of its deployments", async (t) => {
  const fleet = await startAt(t, beforeClosing);
  fleet.apply({ kind: "agents", report: "ready" });
  await fleet.leader.pass(quietMs);
  const before = fleet.rest.writes.length;

  await fleet.leader.pass(30_000);

  assert.equal(fleet.cluster()?.activeSchedule, false);
  const writes = fleet.rest.writes.slice(before);
  assert.deepEqual(
    [writes.filter((write) => /clusters/.test(write)).length, writes.length],
    [1, 2],
    writes.join("\n"),
  );
});

describe("a window stays open", () => {
  const changes: readonly (readonly [
    what: string,
    change: (fleet: Awaited<ReturnType<typeof startAt>>) => Promise<void> | void,
  ])[] = [
    ["when another leader takes over", ({ leader }) => leader.drop()],
    ["when its duration is edited", ({ edit }) => edit({ duration: "2h" })],
    [
      "when a cluster joins",
      ({ apply }) => apply({ kind: "cluster", name: "rome", presence: "join" }),
    ],
    [
      "when another Schedule of the cluster is invalid",
      ({ rest }) => void rest.put(schedules, aSchedule("wrong", { schedule: "0 0 25 * * ?" })),
    ],
    [
      "when another Schedule of the cluster is closed",
      ({ rest }) => void rest.put(schedules, aSchedule("mornings", { schedule: "0 0 6 * * ?" })),
    ],
  ];
  for (const [what, change] of changes) {
    test(what, async (t) => {
      const fleet = await startAt(t, inWindow);
      assert.equal(fleet.cluster()?.activeSchedule, true);

      await change(fleet);
      await fleet.leader.pass(quietMs);

      assert.equal(fleet.schedule()?.status?.active, true);
      for (const name of ["paris", "rome"])
        assert.notEqual(fleet.cluster(name)?.activeSchedule, false);
      fleet.change({ replicas: 2 });
      await fleet.leader.pass(quietMs);
      const { deploymentID, stagedDeploymentID } = fleet.deployment()?.spec ?? {};
      assert.equal(deploymentID, stagedDeploymentID);
    });
  }
});

test("a cluster that joins in a window is open at once", async (t) => {
  const fleet = await startAt(t, inWindow);

  fleet.apply({ kind: "cluster", name: "rome", presence: "join" });
  await fleet.leader.pass(quietMs);

  assert.deepEqual(
    [fleet.cluster("rome")?.scheduled, fleet.cluster("rome")?.activeSchedule],
    [true, true],
  );
  assert.deepEqual(fleet.schedule()?.status?.matchingClusters, ["paris", "rome"]);
});

test("a hub that was down when a window closed promotes nothing, whatever the Clusters say", async (t) => {
  const fleet = await startAt(t, inWindow);
  fleet.apply({ kind: "agents", report: "ready" });
  await fleet.leader.pass(quietMs);
  const before = fleet.deployment()?.spec.deploymentID;

  fleet.clock.setWallTime(Date.parse("2026-03-01T23:30:00Z"));
  fleet.change({ replicas: 2 });
  await fleet.leader.drop();
  await fleet.leader.pass(quietMs);

  assert.equal(fleet.deployment()?.spec.deploymentID, before);
  assert.notEqual(fleet.deployment()?.spec.stagedDeploymentID, before);
  assert.equal(fleet.cluster()?.activeSchedule, false);
});

test("what is in flight when a window closes is held until it has ended, and is not tried again", async (t) => {
  const fleet = await startAt(t, beforeClosing);
  assert.match(fleet.deployment()?.spec.deploymentID ?? "", /^sha256:/);

  await fleet.leader.pass(30_000);
  assert.equal(fleet.deployment()?.spec.offSchedule, true);

  fleet.apply({ kind: "agents", report: "failed" });
  await fleet.leader.pass(quietMs);
  assert.equal(fleet.deployment()?.spec.offSchedule, true);

  fleet.apply({ kind: "agents", report: "ready" });
  await fleet.leader.pass(quietMs);
  assert.equal(fleet.deployment()?.spec.offSchedule, undefined);
});

test("what is in flight is tried again when a window opens, also while its Bundle is not accepted", async (t) => {
  const fleet = await startAt(t, beforeClosing);
  await fleet.leader.pass(30_000);
  assert.equal(fleet.deployment()?.spec.offSchedule, true);
  const helmOp = fleet.rest.peek(helmOps, { namespace: workspace, name: "web" });
  assert.ok(helmOp !== undefined);
  const rolloutStrategy = { policy: "gone" };
  fleet.rest.put(helmOps, { ...helmOp, spec: { ...helmOp.spec, rolloutStrategy } });
  await fleet.leader.pass(quietMs);
  assert.match(fleet.accepted() ?? "", /^there is no RolloutPolicy gone/);
  assert.equal(fleet.deployment()?.spec.offSchedule, true);

  fleet.clock.setWallTime(Date.parse("2026-03-02T21:30:00Z"));
  await fleet.leader.pass(3_600_000);

  assert.equal(fleet.deployment()?.spec.offSchedule, undefined);
});

test("what no target matches any more is uninstalled in the next window", async (t) => {
  const fleet = await startAt(t, beforeClosing);
  fleet.apply({ kind: "agents", report: "ready" });
  await fleet.leader.pass(30_000);
  const helmOp = fleet.rest.peek(helmOps, { namespace: workspace, name: "web" });
  assert.ok(helmOp !== undefined);

  fleet.rest.put(helmOps, { ...helmOp, spec: { ...helmOp.spec, targets: [{ clusterName: "x" }] } });
  await fleet.leader.pass(quietMs);
  assert.equal(fleet.deployment()?.metadata.deletionTimestamp, undefined);
  assert.match(fleet.accepted() ?? "", /not changed: paris; the next window opens/);

  fleet.edit({ schedule: "0 0 23 * * ?" });
  await fleet.leader.pass(quietMs);
  assert.notEqual(fleet.deployment()?.metadata.deletionTimestamp, undefined);
});

test("what no target matches any more is uninstalled at once when the Schedule is not for the cluster any more", async (t) => {
  const clusterSelector = {
    matchExpressions: [{ key: "free", operator: "DoesNotExist" as const }],
  };
  const nights = aSchedule("nights", { targets: { clusters: [{ clusterSelector }] } });
  const fleet = await startAt(t, beforeClosing, [nights]);
  fleet.apply({ kind: "cluster", name: "rome", presence: "join" });
  await fleet.leader.pass(quietMs);
  fleet.apply({ kind: "agents", report: "ready" });
  await fleet.leader.pass(30_000);
  const helmOp = fleet.rest.peek(helmOps, { namespace: workspace, name: "web" });
  const paris = fleet.rest.peek(clusters, { namespace: workspace, name: "paris" });
  assert.ok(helmOp !== undefined && paris !== undefined);
  fleet.rest.put(helmOps, {
    ...helmOp,
    spec: { ...helmOp.spec, targets: [{ clusterName: "rome" }] },
  });
  await fleet.leader.pass(quietMs);
  assert.equal(fleet.deployment()?.metadata.deletionTimestamp, undefined);

  const labels = { ...paris.metadata.labels, free: "true" };
  fleet.rest.put(clusters, { ...paris, metadata: { ...paris.metadata, labels } });
  await fleet.leader.pass(quietMs);

  assert.notEqual(fleet.deployment()?.metadata.deletionTimestamp, undefined);
});

describe("clusters are closed", () => {
  test("by an invalid Schedule, and both say so", async (t) => {
    const wrong = aSchedule("nights", { schedule: "0 0 25 * * ?" });
    const fleet = await startAt(t, inWindow, [wrong]);

    const ready = findCondition(fleet.schedule()?.status?.conditions, "Ready");
    assert.deepEqual([ready?.status, ready?.reason], ["False", "ScheduleInvalid"]);
    assert.match(
      ready?.message ?? "",
      /^the hour 25 is not between 0 and 23; its clusters are not/,
    );
    const processed = findCondition(fleet.cluster()?.conditions, "Processed");
    assert.match(processed?.message ?? "", /^Schedule nights cannot be used/);
    assert.equal(fleet.deployment()?.spec.deploymentID, "");

    fleet.edit({ schedule: "0 0 22 * * ?" });
    await fleet.leader.pass(quietMs);

    assert.equal(findCondition(fleet.cluster()?.conditions, "Processed")?.message, "");
    assert.match(fleet.deployment()?.spec.deploymentID ?? "", /^sha256:/);
  });

  test("until the last of their Schedules is deleted", async (t) => {
    const fleet = await startAt(t, beforeOpening);

    void fleet.rest.delete(schedules, { namespace: workspace, name: "nights" });
    await fleet.leader.pass(quietMs);

    assert.equal(fleet.cluster()?.scheduled, undefined);
    assert.equal(fleet.cluster()?.activeSchedule, undefined);
    assert.match(fleet.deployment()?.spec.deploymentID ?? "", /^sha256:/);
  });
});

test("a Schedule with Fleet's finalizer is deleted", async (t) => {
  const finalizers = [fleetScheduleFinalizer, "example.com/other"];
  const fleet = await startAt(t, inWindow, [aSchedule("nights", {}, { finalizers })]);

  void fleet.rest.delete(schedules, { namespace: workspace, name: "nights" });
  await fleet.leader.pass(quietMs);

  assert.deepEqual(fleet.schedule()?.metadata.finalizers, ["example.com/other"]);
  assert.equal(fleet.cluster()?.scheduled, undefined);
});

test("a fleet without Schedules has nothing of them in its Clusters", async (t) => {
  const fleet = await startAt(t, inWindow, []);

  assert.equal("scheduled" in (fleet.cluster() ?? {}), false);
  assert.match(fleet.deployment()?.spec.deploymentID ?? "", /^sha256:/);
});
