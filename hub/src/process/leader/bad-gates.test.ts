/** What can be wrong with the windows and gates of a rollout, and with what they name: a row for each case, as in `bad-rollouts.test.ts`. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { test } from "vitest";
import { aSchedule, workspace } from "../../testing/index.ts";
import {
  app,
  begin,
  canary,
  gate,
  inField,
  rest,
  saidBy,
  stages,
  testRows,
  waitsFor,
  windows,
} from "./testing/index.ts";

const noNights = (effect: string) =>
  `is nights, and there is no Schedule nights in namespace fleet-default: create it, or change the field; until then ${effect}`;

testRows({
  windows: [
    [
      "that overlap themselves",
      windows({ cron: "0 0 * * * ?", duration: "2h" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        "cannot be used: duration is too long and overlaps with the next execution time: it is 2h, and two starts are only 1h apart; correct it",
      ),
    ],
    [
      "that are never open",
      windows({ cron: "0 0 0 30 2 ?", duration: "1h" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        'cannot be used: "0 0 0 30 2 ?" has no start, so that the window is never open; correct it',
      ),
    ],
    [
      "that are never open together",
      windows(
        { cron: "0 0 22 * * ?", duration: "1h" },
        { cron: "0 0 20 * * ?", duration: "4h", deny: true },
      ),
      "HelmOp",
      inField(
        "stages[0].windows",
        "are never open: whenever one of them permits changes, one with deny is open, too; change one of them",
      ),
    ],
    [
      "that are never open together, of Schedules",
      {
        ...windows({ schedule: "nights" }, { cron: "0 0 20 * * ?", duration: "4h", deny: true }),
        schedules: [aSchedule("nights", { targets: { clusters: [] } })],
      },
      "BundleRollout",
      "stage all: window 0 0 20 * * ? denies changes, and whenever another one permits changes one with deny is open, too: the windows are never open together, change one of them; 3 clusters wait for it",
    ],
    [
      "that are never open together with the Schedule of a cluster",
      {
        ...windows({ cron: "0 0 8 * * ?", duration: "10h" }),
        schedules: [aSchedule("nights", { targets: { clusters: [{ clusterName: "ams" }] } })],
      },
      "BundleRollout",
      "stage all: window 0 0 8 * * ? opens at 2026-03-02T08:00:00Z; 3 clusters wait for it; the windows of the stage are never open together with the Schedules of fleet-default/ams: change one of them, or skip the cluster",
    ],
    [
      "with a wrong expression",
      windows({ cron: "0 0 25 * * ?", duration: "1h" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        "cannot be used: the hour 25 is not between 0 and 23; correct it",
      ),
    ],
    [
      "with a wrong zone",
      windows({ cron: "0 0 22 * * ?", duration: "1h", location: "Mars/Base" }),
      "HelmOp",
      inField(
        "stages[0].windows[0]",
        'cannot be used: the location "Mars/Base" is not the name of a time zone, such as Europe/Berlin or UTC; correct it',
      ),
    ],
    [
      "of a Schedule with a wrong expression",
      {
        ...windows({ schedule: "nights" }),
        schedules: [aSchedule("nights", { schedule: "0 0 25 * * ?", targets: { clusters: [] } })],
      },
      "BundleRollout",
      "stage all: the Schedule nights is invalid, so window nights stays closed: the hour 25 is not between 0 and 23; correct it; 3 clusters wait for it",
    ],
    [
      "of a Schedule that is never open",
      {
        ...stages(rest),
        schedules: [
          aSchedule("nights", { schedule: "0 0 0 1 1 ? 2020", targets: { clusters: [] } }),
        ],
      },
      "Schedule",
      "spec.schedule has no further start; its clusters are not changed, except while another Schedule of theirs is active",
    ],
  ],
  "what does not exist": [
    [
      "the Schedule of a later stage",
      stages({ name: "canary", ...canary }, { ...rest, windows: [{ schedule: "nights" }] }),
      "Bundle",
      inField("stages[1].windows[0].schedule", noNights("it permits none")),
    ],
    [
      "the app of a gate of a later stage",
      stages({ name: "canary", ...canary }, { ...waitsFor("base"), name: "rest" }),
      "Bundle",
      inField(
        "stages[1].before[0].rollout",
        "cannot pass: there is no HelmOp base in namespace fleet-default that is deployed: create or correct it, or change the gate",
      ),
    ],
    [
      "a Schedule",
      windows({ schedule: "nights" }),
      "BundleRollout",
      "stage all: there is no Schedule nights in namespace fleet-default, so window nights stays closed: create it, or change the strategy; 3 clusters wait for it",
    ],
    [
      "the Schedule of a gate",
      gate({ window: { schedule: "nights" } }),
      "BundleRollout",
      "waits for the window gate of stage canary: there is no Schedule nights in namespace fleet-default, so window nights stays closed: create it, or change the strategy",
    ],
    [
      "a RolloutPolicy",
      { strategy: { policy: "rings" } },
      "Bundle",
      "there is no RolloutPolicy rings in namespace fleet-default: create it, or change spec.rolloutStrategy.policy; until then nothing changes",
    ],
    [
      "the app of a gate",
      gate({ rollout: { kind: "HelmOp", name: "base" } }),
      "BundleRollout",
      "waits for the rollout of another app, gate gate (until 2026-03-02T22:20:00Z) of stage canary: there is no HelmOp base in namespace fleet-default that is deployed: create or correct it, or change the gate",
    ],
    [
      "stages of the app of a gate",
      { ...gate({ rollout: { kind: "HelmOp", name: "base" } }), apps: [app("base")] },
      "BundleRollout",
      "waits for the rollout of another app, gate gate (until 2026-03-02T22:20:00Z) of stage canary: the HelmOp base has no stages, so nothing says when it is rolled out: give it stages, or remove the gate",
    ],
    [
      "the stage that a gate names",
      {
        ...gate({ rollout: { kind: "HelmOp", name: "base", stage: "prd" } }),
        apps: [app("base", { stages: [rest] })],
      },
      "BundleRollout",
      "waits for the rollout of another app, gate gate (until 2026-03-02T22:20:00Z) of stage canary: the HelmOp base has no stage prd: correct rollout.stage of the gate",
    ],
  ],
  gates: [
    [
      "that wait for each other",
      { ...stages(waitsFor("base")), apps: [app("base", { stages: [waitsFor("web")] })] },
      "Bundle",
      inField(
        "stages[0].before[0].rollout",
        "waits for HelmOp base, which waits for HelmOp web: gates that wait for each other never pass; remove one of them",
      ),
    ],
    [
      "with config over 4 KiB",
      gate({ external: { config: { a: "x".repeat(4_096) } } }),
      "HelmOp",
      inField(
        "stages[0].before[0].external.config",
        "has 4097 bytes, more than the limit of 4096: put the rest into an object that it names",
      ),
    ],
    [
      "for tests where no tests run",
      gate({ test: {} }, "after"),
      "HelmOp",
      inField(
        "stages[0].after[0].test",
        "waits for tests, and no tests run: set spec.test.enable, or remove the gate",
      ),
    ],
  ],
});

test("gates that wait for each other go on once one of them is removed, and those for an app once it is there", async () => {
  const fleet = await begin({
    ...stages(waitsFor("base")),
    apps: [app("base", { stages: [waitsFor("web")] })],
  });
  assert.deepEqual(fleet.rollouts(), []);

  const { rest } = fleet.leader;
  const base = rest.peek(helmOps, { namespace: workspace, name: "base" });
  assert.ok(base);
  const later = { ...base.spec, rolloutStrategy: { stages: [waitsFor("later")] } };
  rest.put(helmOps, { ...base, spec: later });
  await fleet.pass();
  assert.match(
    saidBy(fleet, "BundleRollout") ?? "",
    /: the HelmOp base has not completed its rollout$/,
  );
  const ofBase = () => fleet.rollouts().find(({ spec }) => spec.app.name === "base")?.status;
  assert.match(ofBase()?.message ?? "", /: there is no HelmOp later in namespace fleet-default /);

  rest.put(helmOps, app("later", { stages: [{ name: "all" }] }));
  await fleet.pass();
  assert.match(ofBase()?.message ?? "", /: the HelmOp later has not completed its rollout$/);
});
