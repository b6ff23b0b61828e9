/** What counts as a condition that changed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@flotilla/shared/api/condition.ts";
import { conditionChanges } from "./condition-changes.ts";

const ready: Condition = { type: "Ready", status: "True", reason: "Ready" };
const offline: Condition = { type: "Ready", status: "Unknown", reason: "Offline" };
const stalled: Condition = { type: "Stalled", status: "False", reason: "" };

const rows = [
  {
    name: "nothing while only messages and times change",
    history: [
      [ready],
      [{ ...ready, message: "since noon", lastUpdateTime: "2026-01-01T12:00:00Z" }],
    ],
    changes: [],
  },
  {
    name: "that a condition flapped, although it is at last what it was",
    history: [[ready, stalled], [offline, stalled], [ready]],
    changes: [
      { type: "Ready", before: "True Ready", after: "Unknown Offline" },
      { type: "Ready", before: "Unknown Offline", after: "True Ready" },
      { type: "Stalled", before: "False ", after: "absent" },
    ],
  },
  {
    name: "another reason of the same status",
    history: [[ready], [{ ...ready, reason: "NoTargets" }]],
    changes: [{ type: "Ready", before: "True Ready", after: "True NoTargets" }],
  },
  {
    name: "a status that was emptied",
    history: [[ready], undefined],
    changes: [{ type: "Ready", before: "True Ready", after: "absent" }],
  },
  { name: "nothing of an object that was told of once", history: [[ready]], changes: [] },
] as const;

for (const { name, history, changes } of rows)
  test(`conditionChanges tells ${name}`, () => {
    assert.deepEqual(conditionChanges(history), changes);
  });
