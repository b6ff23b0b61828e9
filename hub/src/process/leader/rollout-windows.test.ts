/** Windows of stages, window gates and Schedules that rollouts name, by the controllers of a leader on an API server in memory. */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  helmOps,
  type RolloutStrategy,
  type Schedule,
  schedules,
} from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, onTestFinished, test } from "vitest";
import { aSchedule, workspace } from "../../testing/index.ts";
import { bundleStatusOf, createStagedFleet, type StagedFleet } from "./testing/index.ts";

const beforeOpening = "2026-03-01T21:59:30Z";
const inWindow = "2026-03-01T22:20:00Z";
const beforeClosing = "2026-03-01T22:59:50Z";

/** It is for no cluster, from 22:00 to 23:00 UTC: only rollouts name it. */
const nights = aSchedule("nights", { targets: { clusters: [] } });
const inNights: RolloutStrategy = {
  stages: [{ name: "all", maxUnavailable: 1, windows: [{ schedule: "nights" }] }],
};

/** Two clusters, to which 1.2.3 is to be rolled out. */
async function startAt(
  at: string,
  strategy: RolloutStrategy = inNights,
  list: readonly Schedule[] = [nights],
): Promise<StagedFleet> {
  const fleet = await createStagedFleet(
    strategy,
    { ams: {}, ber: {} },
    {
      begin({ clock, rest }) {
        clock.setWallTime(Date.parse(at));
        for (const schedule of list) rest.put(schedules, schedule);
      },
    },
  );
  onTestFinished(() => fleet.stop());
  return fleet;
}

function promoted({ leader }: StagedFleet): readonly string[] {
  return leader.rest
    .all(bundleDeployments)
    .filter(({ spec }) => spec.deploymentID !== "")
    .map(({ metadata }) => metadata.labels?.["fleet.cattle.io/cluster"] ?? "")
    .sort();
}

function edit({ leader }: StagedFleet, spec: Schedule["spec"]): void {
  const found = leader.rest.peek(schedules, { namespace: workspace, name: "nights" });
  assert.ok(found);
  leader.rest.put(schedules, { ...found, spec: { ...found.spec, ...spec } });
}

describe("the windows of a stage", () => {
  test("promote nothing before they open, say when they do, and go on at once then", async () => {
    const fleet = await startAt(beforeOpening);

    assert.deepEqual(promoted(fleet), []);
    const { phase, reason, message } = fleet.status();
    assert.deepEqual([phase, reason], ["Waiting", "WindowClosed"]);
    assert.equal(
      message,
      "stage all: window nights opens at 2026-03-01T22:00:00Z; 2 clusters wait for it",
    );
    assert.equal(bundleStatusOf(fleet)?.rollout?.message, message);
    await fleet.pass(30_000);

    assert.deepEqual(promoted(fleet), ["ams"]);
  });

  test("that close with a cluster in flight let it end, and promote no other", async () => {
    const fleet = await startAt(beforeClosing);
    assert.deepEqual(promoted(fleet), ["ams"]);

    await fleet.pass(20_000);
    fleet.ready("ams");
    await fleet.pass();

    assert.deepEqual(promoted(fleet), ["ams"]);
    assert.equal(
      fleet.status().message,
      "stage all: window nights opens at 2026-03-02T22:00:00Z; 1 cluster waits for it",
    );
  });

  test("that close let nothing be tried again that was in flight, until they open: its deadline begins then", async () => {
    const fleet = await startAt(beforeClosing);
    const promotedAt = fleet.deployment("ams")?.spec.promotion?.at ?? "";
    assert.equal(fleet.deployment("ams")?.spec.offSchedule, undefined);

    await fleet.pass(20_000);
    assert.equal(fleet.deployment("ams")?.spec.offSchedule, true);
    assert.equal(fleet.deployment("ams")?.spec.promotion?.at, promotedAt);
    await fleet.pass(30 * 60_000);
    assert.deepEqual([fleet.status().phase, fleet.status().clusters?.failed], ["Waiting", 0]);
    assert.equal(
      fleet.status().message,
      "stage all: window nights opens at 2026-03-02T22:00:00Z; 2 clusters wait for it",
    );

    // As if it were the next night.
    edit(fleet, { schedule: "0 0 23 * * ?" });
    await fleet.pass();
    const { offSchedule, promotion } = fleet.deployment("ams")?.spec ?? {};
    assert.equal(offSchedule, undefined);
    assert.ok((promotion?.at ?? "") > promotedAt);
    assert.equal(fleet.status().clusters?.failed, 0);
    fleet.ready("ams");
    await fleet.pass();
    assert.deepEqual(promoted(fleet), ["ams", "ber"]);
  });

  test("let go on what was applied after they have closed, which has its deadline from then on", async () => {
    const fleet = await startAt(beforeClosing);
    await fleet.pass(20 * 60_000);
    const deployment = fleet.deployment("ams");
    assert.equal(deployment?.spec.offSchedule, true);

    const { deploymentID } = deployment.spec;
    fleet.leader.rest.put(bundleDeployments, {
      ...deployment,
      status: { appliedDeploymentID: deploymentID, ready: false },
    });
    await fleet.pass();

    assert.equal(fleet.deployment("ams")?.spec.offSchedule, undefined);
    assert.equal(fleet.status().clusters?.failed, 0);
    await fleet.pass(16 * 60_000);
    assert.equal(fleet.status().phase, "Halted");
  });

  test("of a cluster's own Schedules hold what is in flight there, too", async () => {
    const own = aSchedule("own", { targets: { clusters: [{ clusterName: "ams" }] } });
    const fleet = await startAt(beforeClosing, { stages: [{ name: "all" }] }, [own]);
    await fleet.pass(20_000);

    assert.equal(fleet.deployment("ams")?.spec.offSchedule, true);
    assert.equal(fleet.deployment("ber")?.spec.offSchedule, undefined);
  });

  test("hold what is in flight, and not what a rollback gives back", async () => {
    const fleet = await startAt(inWindow);
    for (let round = 0; round < 4; round += 1) {
      fleet.ready();
      await fleet.pass();
    }
    await fleet.publish("1.2.4");
    const { deploymentID, promotion } = fleet.deployment("ams")?.spec ?? {};
    edit(fleet, { schedule: "0 0 4 * * ?" });
    await fleet.pass();
    assert.equal(fleet.deployment("ams")?.spec.offSchedule, true);

    fleet.command({ state: "RolledBack" });
    await fleet.pass();

    const back = fleet.deployment("ams")?.spec;
    assert.notEqual(back?.deploymentID, deploymentID);
    assert.equal(back?.deploymentID, promotion?.from);
    assert.equal(back?.offSchedule, undefined);
  });

  test("hold what is in flight while the app is not accepted", async () => {
    const fleet = await startAt(beforeClosing);
    await fleet.pass(20_000);
    fleet.setStrategy({ policy: "gone" });
    await fleet.pass(20_000);
    assert.equal(fleet.deployment("ams")?.spec.offSchedule, true);

    await fleet.pass(30 * 60_000);
    fleet.setStrategy(inNights);
    await fleet.pass();

    assert.equal(fleet.deployment("ams")?.spec.offSchedule, true);
    assert.equal(fleet.status().clusters?.failed, 0);
  });

  test("with deny close the stage whatever else is open", async () => {
    const freeze = { cron: "0 0 20 * * ?", duration: "3h", location: "UTC", deny: true };
    const stage = { name: "all", windows: [{ schedule: "nights" }, freeze] };
    const fleet = await startAt(inWindow, { stages: [stage] });

    assert.deepEqual(promoted(fleet), []);
    assert.equal(
      fleet.status().message,
      "stage all: window 0 0 20 * * ? (UTC) denies changes, and whenever another one permits changes one with deny is open, too: the windows are never open together, change one of them; 2 clusters wait for it",
    );
  });

  test("of a Schedule that does not exist stay closed and name it, until it is created", async () => {
    const fleet = await startAt(inWindow, inNights, []);

    assert.deepEqual(promoted(fleet), []);
    assert.equal(
      fleet.status().message,
      "stage all: there is no Schedule nights in namespace fleet-default, so window nights stays closed: create it, or change the strategy; 2 clusters wait for it",
    );
    fleet.leader.rest.put(schedules, nights);
    await fleet.pass();

    assert.deepEqual(promoted(fleet), ["ams"]);
  });

  test("of an invalid Schedule stay closed and say what is wrong, until it is corrected", async () => {
    const wrong = { ...nights, spec: { ...nights.spec, schedule: "0 0 25 * * ?" } };
    const fleet = await startAt(inWindow, inNights, [wrong]);

    assert.deepEqual(promoted(fleet), []);
    assert.match(
      fleet.status().message ?? "",
      /^stage all: the Schedule nights is invalid, so window nights stays closed: the hour 25 is not between 0 and 23; correct it/,
    );
    edit(fleet, { schedule: "0 0 22 * * ?" });
    await fleet.pass();

    assert.deepEqual(promoted(fleet), ["ams"]);
  });

  test("open at once when the Schedule is changed so that it is open now", async () => {
    const fleet = await startAt("2026-03-01T12:00:00Z");
    assert.deepEqual(promoted(fleet), []);

    edit(fleet, { schedule: "0 0 11 * * ?", duration: "4h" });
    await fleet.pass();

    assert.deepEqual(promoted(fleet), ["ams"]);
  });

  test("that are never open together with the Schedules of a cluster name it, while the others go on", async () => {
    const days = aSchedule("days", {
      schedule: "0 0 8 * * ?",
      duration: "10h",
      targets: { clusters: [{ clusterName: "ams" }] },
    });
    const fleet = await startAt(inWindow, inNights, [nights, days]);
    assert.deepEqual(promoted(fleet), ["ber"]);

    fleet.ready("ber");
    await fleet.pass();

    assert.equal(
      fleet.status().message,
      "stage all: 1 cluster waits for a window of its Schedules; the windows of the stage are never open together with the Schedules of fleet-default/ams: change one of them, or skip the cluster",
    );
  });

  test("that are wrong make the HelmOp not accepted, with the field", async () => {
    const stage = { name: "all", windows: [{ cron: "0 0 25 * * ?", duration: "1h" }] };
    const fleet = await startAt(inWindow, { stages: [stage] });

    const [helmOp] = fleet.leader.rest.all(helmOps);
    const accepted = findCondition(helmOp?.status?.conditions, "Accepted");
    assert.ok(accepted);
    assert.equal(accepted.status, "False");
    assert.equal(
      accepted.message,
      "spec.rolloutStrategy.stages[0].windows[0] cannot be used: the hour 25 is not between 0 and 23; correct it",
    );
    assert.deepEqual(promoted(fleet), []);
  });
});

test("a gate for a window passes when it opens, and not before", async () => {
  const stage = { name: "all", before: [{ name: "night", window: { schedule: "nights" } }] };
  const fleet = await startAt(beforeOpening, { stages: [stage] });

  assert.deepEqual(promoted(fleet), []);
  assert.equal(
    fleet.status().message,
    "waits for the window night of stage all: window nights opens at 2026-03-01T22:00:00Z",
  );
  await fleet.pass(30_000);

  assert.deepEqual(promoted(fleet), ["ams", "ber"]);
});

test("a rollout is taken back in the windows of its stages where the strategy says so", async () => {
  const strategy = { ...inNights, rollback: { respectWindows: true } };
  const fleet = await startAt(inWindow, strategy);
  for (let round = 0; round < 4; round += 1) {
    fleet.ready();
    await fleet.pass();
  }
  await fleet.publish("1.2.4");
  fleet.ready();
  await fleet.pass();
  fleet.leader.clock.setWallTime(Date.parse("2026-03-01T23:30:00Z"));

  fleet.command({ state: "RolledBack" });
  await fleet.pass();
  const closed = fleet.having("1.2.4");
  assert.match(fleet.status().message ?? "", /; window nights opens at 2026-03-02T22:00:00Z$/);
  edit(fleet, { schedule: "0 0 23 * * ?" });
  await fleet.pass();

  assert.ok(closed.length > 0);
  assert.ok(fleet.having("1.2.4").length < closed.length);
});

test("stages are shown as partitions of the Bundle", async () => {
  const fleet = await startAt(inWindow);
  for (let round = 0; round < 3; round += 1) {
    fleet.ready();
    await fleet.pass();
  }
  await fleet.publish("1.2.4");

  const { partitions, unavailable, maxUnavailable } = bundleStatusOf(fleet) ?? {};
  assert.deepEqual([unavailable, maxUnavailable], [1, 2]);
  assert.deepEqual(partitions, [
    {
      name: "all",
      count: 2,
      maxUnavailable: 1,
      unavailable: 1,
      summary: { desiredReady: 2, ready: 0, waitApplied: 1, outOfSync: 1 },
    },
  ]);
});
