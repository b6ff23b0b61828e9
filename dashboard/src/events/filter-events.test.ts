import assert from "node:assert/strict";
import type { FleetEvent } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { type EventFilter, filterEvents } from "./filter-events.ts";

const event = (id: string, more: Partial<FleetEvent>): FleetEvent => ({
  ...{ id, time: "2026-01-01T00:00:00Z", type: "Normal", reason: "Reason", message: "" },
  ...{ count: 1, kind: "HelmOp", namespace: "ns", name: "web", ...more },
});
const events = [
  event("1", { reason: "Suspended", message: "suspended by anna on the dashboard" }),
  event("2", { type: "Warning", reason: "UpgradeFailed", name: "shop" }),
  event("3", { kind: "Cluster", namespace: "other", name: "paris" }),
];

describe("events", () => {
  const cases: readonly (readonly [string, Partial<EventFilter>, readonly string[]])[] = [
    ["are all shown without a filter", {}, ["1", "2", "3"]],
    ["are found by who did it", { text: "Anna suspended" }, ["1"]],
    ["are found by their object", { text: "cluster other/paris" }, ["3"]],
    ["are only the warnings", { type: "Warning" }, ["2"]],
    ["are those of one namespace", { namespace: "other" }, ["3"]],
    ["are none where nothing matches", { type: "Warning", text: "anna" }, []],
  ];
  for (const [name, filter, ids] of cases)
    test(name, () => {
      const shown = filterEvents(events, { text: "", type: "", namespace: "", ...filter });
      assert.deepEqual(
        shown.map(({ id }) => id),
        ids,
      );
    });
});
