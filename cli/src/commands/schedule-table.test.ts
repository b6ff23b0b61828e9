import assert from "node:assert/strict";
import type { Schedule } from "@flotilla/shared/api";
import { zoneOf } from "@flotilla/shared/quartz";
import { expect, test } from "vitest";
import { schedulesTable, startsTable, zonedTime } from "./schedule-table.ts";

const nowMs = Date.parse("2026-03-28T12:00:00Z");

test("starts are listed in the zone and in UTC, through the night when clocks change", () => {
  const window = { schedule: "0 30 2 * * ?", location: "Europe/Berlin", duration: "1h" };

  assert.equal(
    startsTable(window, { nowMs, count: 2 }),
    [
      "OPENS IN Europe/Berlin      OPENS IN UTC           CLOSES IN UTC",
      "2026-03-29T03:30:00+02:00   2026-03-29T01:30:00Z   2026-03-29T02:30:00Z",
      "2026-03-30T02:30:00+02:00   2026-03-30T00:30:00Z   2026-03-30T01:30:00Z",
      "",
    ].join("\n"),
  );
});

test("an expression alone is in UTC and has no end", () => {
  assert.equal(
    startsTable({ schedule: "0 0 22 ? * SUN" }, { nowMs, count: 1 }),
    "OPENS IN UTC                OPENS IN UTC\n2026-03-29T22:00:00+00:00   2026-03-29T22:00:00Z\n",
  );
});

test("an expression without another start says so", () => {
  assert.equal(
    startsTable({ schedule: "0 0 0 1 1 ? 2026" }, { nowMs, count: 3 }),
    "it does not start any more\n",
  );
});

test("what is wrong is an error, also a duration that reaches the next start", () => {
  const table = (schedule: string, duration?: string) =>
    startsTable({ schedule, duration }, { nowMs, count: 1 });

  expect(() => table("0 0 25 * * ?")).toThrow("the hour 25 is not between 0 and 23");
  expect(() => table("0 0 22 * * ?", "24h")).toThrow("overlaps with the next execution time");
});

test("Schedules are listed with their state now, and invalid ones with what is wrong", () => {
  const list = [
    schedule("nights", { schedule: "0 0 22 * * ?", duration: "4h" }),
    schedule("noon", { schedule: "0 0 13 * * ?", duration: "2h", location: "Europe/Berlin" }),
    schedule("once", { schedule: "0 0 0 1 1 ? 2026", duration: "1h" }),
    schedule("wrong", { schedule: "0 0 25 * * ?", duration: "4h" }),
  ];

  const rows = schedulesTable(list, nowMs)
    .split("\n")
    .map((line) => line.split(/\s{2,}/));

  assert.deepEqual(rows.slice(1, 5), [
    [
      "nights",
      "no",
      "2026-03-28T22:00:00Z",
      "2026-03-28T22:00:00Z",
      "2026-03-28T22:00:00+00:00 UTC",
      "7",
    ],
    [
      ...["noon", "yes", "2026-03-28T14:00:00Z", "2026-03-29T11:00:00Z"],
      ...["2026-03-29T13:00:00+02:00 Europe/Berlin", "7"],
    ],
    ["once", "no", "never", "none", "7"],
    ["wrong", "invalid", "7", "the hour 25 is not between 0 and 23"],
  ]);
});

test.for([
  ["UTC", "2026-03-28T12:00:00+00:00"],
  ["Asia/Kolkata", "2026-03-28T17:30:00+05:30"],
  ["America/St_Johns", "2026-03-28T09:30:00-02:30"],
] as const)("noon in UTC is shown in %s as %s", ([zone, expected]) => {
  assert.equal(zonedTime(zoneOf(zone), nowMs), expected);
});

function schedule(name: string, spec: Schedule["spec"]): Schedule {
  return {
    apiVersion: "fleet.cattle.io/v1alpha1",
    kind: "Schedule",
    metadata: { name, namespace: "fleet-default" },
    spec,
    status: { clusterCount: 7 },
  };
}
