import assert from "node:assert/strict";
import type { Cluster, Schedule, StageWindow } from "@flotilla/shared/api";
import { zoneOf } from "@flotilla/shared/quartz";
import { describe, test } from "vitest";
import { aRollout } from "../rollout/testing/index.ts";
import { type ClusterWindowFacts, clusterWindowsText } from "./cluster-windows.ts";

const at = { nowMs: Date.parse("2026-03-28T12:00:00Z"), here: zoneOf("Asia/Kolkata"), count: 2 };
const nights = aSchedule("nights", { schedule: "0 0 22 * * ?", duration: "4h" });
const noon = aSchedule("noon", {
  schedule: "0 0 13 * * ?",
  duration: "2h",
  location: "Europe/Berlin",
});

function aSchedule(name: string, spec: Schedule["spec"]): Schedule {
  return {
    metadata: { name, namespace: "fleet-default" },
    spec: { targets: { clusters: [{ clusterSelector: {} }] }, ...spec },
  };
}

function aCluster(spec: Cluster["spec"] = {}): Cluster {
  return { metadata: { name: "paris", namespace: "fleet-default" }, spec };
}

function textOf(facts: Partial<ClusterWindowFacts>): string {
  return clusterWindowsText(
    { cluster: aCluster(), schedules: [], groups: [], stages: [], ...facts },
    at,
  );
}

/** Without the table. */
function stateOf(facts: Partial<ClusterWindowFacts>): readonly string[] {
  const [heads = ""] = textOf(facts).split("\n\n");
  return heads
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.replace(/\s{2,}/, " "));
}

function staged(...windows: readonly StageWindow[]): Pick<ClusterWindowFacts, "stages"> {
  return { stages: [{ rollout: aRollout({}), stage: "prod", windows }] };
}

test("the windows of a cluster are listed in their zone and in the user's, and why it is closed now", () => {
  assert.equal(
    textOf({ schedules: [nights] }),
    [
      "cluster    fleet-default/paris",
      "now        closed: of nights none is active; opens at 2026-03-28T22:00:00Z, which is 2026-03-29T03:30:00+05:30 Asia/Kolkata",
      "",
      "WINDOW   OF            STATE   OPENS IN ITS ZONE               OPENS IN Asia/Kolkata       CLOSES IN Asia/Kolkata",
      "nights   the cluster           2026-03-28T22:00:00+00:00 UTC   2026-03-29T03:30:00+05:30   2026-03-29T07:30:00+05:30",
      "nights   the cluster           2026-03-29T22:00:00+00:00 UTC   2026-03-30T03:30:00+05:30   2026-03-30T07:30:00+05:30",
      "",
    ].join("\n"),
  );
});

test("the windows of several Schedules are listed in the order in which they open, the open one first", () => {
  const rows = textOf({ schedules: [nights, noon] })
    .split("\n")
    .slice(4, -1)
    .map((line) => line.split(/\s{2,}/).slice(0, 3));

  assert.deepEqual(rows, [
    ["noon", "the cluster", "open"],
    ["nights", "the cluster", "2026-03-28T22:00:00+00:00 UTC"],
  ]);
});

describe("a cluster says why it may be changed now, or not:", () => {
  const opens = "opens at 2026-03-28T22:00:00Z, which is 2026-03-29T03:30:00+05:30 Asia/Kolkata";
  const wrong = aSchedule("wrong", { schedule: "0 0 25 * * ?", duration: "4h" });
  const past = aSchedule("past", { schedule: "0 0 0 1 1 ? 2026", duration: "1h" });
  const other = aSchedule("other", {
    ...nights.spec,
    targets: { clusters: [{ clusterName: "x" }] },
  });
  const freeze = { cron: "0 0 0 28 3 ?", duration: "24h", deny: true };
  const closed = `now closed: of nights none is active; ${opens}`;
  const alwaysOpen = "now open: no Schedule is for it, so that it may be changed at any time";
  for (const [what, facts, lines] of [
    ["without a Schedule", { schedules: [other] }, [alwaysOpen]],
    [
      "in the window of one of its Schedules",
      { schedules: [nights, noon] },
      ["now open: noon is active, until 2026-03-28T14:00:00Z"],
    ],
    [
      "with an invalid Schedule",
      { schedules: [wrong] },
      [
        "now closed: of wrong none is active; never opens again; wrong is never open: the hour 25 is not between 0 and 23",
      ],
    ],
    [
      "with a Schedule that has ended",
      { schedules: [past] },
      ["now closed: of past none is active; never opens again"],
    ],
    [
      "while it is paused",
      { cluster: aCluster({ paused: true }), schedules: [nights] },
      [closed, "paused spec.paused of the Cluster is true: nothing changes, whatever windows say"],
    ],
    [
      "with a stage whose window is closed",
      {
        schedules: [noon, { ...nights, spec: { ...nights.spec, targets: { clusters: [] } } }],
        ...staged({ schedule: "nights" }),
      },
      [
        "now open: noon is active, until 2026-03-28T14:00:00Z",
        // The windows of both are never open together.
        "rollout web-7, stage prod: closed: of nights none is active; never opens again",
      ],
    ],
    [
      "with a stage that denies changes",
      { ...staged(freeze) },
      [
        alwaysOpen,
        "rollout web-7, stage prod: closed: 0 0 0 28 3 ? denies changes; opens at 2026-03-29T00:00:00Z, which is 2026-03-29T05:30:00+05:30 Asia/Kolkata",
      ],
    ],
    [
      "with a stage that waits for its Schedule",
      { schedules: [nights], ...staged({ cron: "0 0 0 * * ?", duration: "23h" }) },
      [closed, `rollout web-7, stage prod: closed: no Schedule of the cluster is active; ${opens}`],
    ],
    [
      "with a stage whose Schedule does not exist",
      { ...staged({ schedule: "gone" }) },
      [
        alwaysOpen,
        "rollout web-7, stage prod: closed: of gone none is active; never opens again; gone is never open: there is no Schedule of that name",
      ],
    ],
    [
      "where rollouts may not be read",
      { stages: undefined },
      [alwaysOpen, "rollout you may not read which stages take it"],
    ],
  ] as const)
    test(what, () => {
      assert.deepEqual(stateOf(facts), lines);
    });
});
