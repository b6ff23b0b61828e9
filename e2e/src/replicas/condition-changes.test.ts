/** What counts as a condition that changed. */
import assert from "node:assert/strict";
import type { Condition } from "@flotilla/shared/api";
import { test } from "vitest";
import type { WithConditions } from "../harness/wait.ts";
import { conditionChanges } from "./condition-changes.ts";

const ready: Condition = { type: "Ready", status: "True", reason: "Ready", observedGeneration: 4 };
const offline: Condition = { ...ready, status: "Unknown", reason: "Offline" };
const progressing: Condition = { ...ready, status: "Unknown", reason: "Progressing" };
const stalled: Condition = { ...ready, type: "Stalled", status: "False", reason: "" };

const at = (generation: number, ...conditions: Condition[]): WithConditions => ({
  metadata: { generation },
  status: { conditions },
});

const rows = [
  {
    name: "nothing while only messages and times change",
    history: [
      at(4, ready),
      at(4, { ...ready, message: "since noon", lastUpdateTime: "2026-01-01T12:00:00Z" }),
    ],
    changes: [],
  },
  {
    name: "that a condition flapped, although it is at last what it was",
    history: [at(4, ready, stalled), at(4, offline, stalled), at(4, ready)],
    changes: [
      { type: "Ready", before: "True Ready", after: "Unknown Offline", hasNewSpec: false },
      { type: "Ready", before: "Unknown Offline", after: "True Ready", hasNewSpec: false },
      { type: "Stalled", before: "False ", after: "absent", hasNewSpec: false },
    ],
  },
  {
    name: "another reason of the same status",
    history: [at(4, ready), at(4, { ...ready, reason: "NoTargets" })],
    changes: [{ type: "Ready", before: "True Ready", after: "True NoTargets", hasNewSpec: false }],
  },
  {
    name: "a status that was emptied",
    history: [at(4, ready), { metadata: { generation: 4 } }],
    changes: [{ type: "Ready", before: "True Ready", after: "absent", hasNewSpec: false }],
  },
  {
    name: "that the spec is newer than what the condition spoke of, also before the condition speaks of it",
    history: [at(4, ready), at(5, ready), at(5, progressing)],
    changes: [
      { type: "Ready", before: "True Ready", after: "Unknown Progressing", hasNewSpec: true },
    ],
  },
  {
    name: "that the spec is not newer once the condition has spoken of it",
    history: [at(5, { ...ready, observedGeneration: 5 }), at(5, progressing)],
    changes: [
      { type: "Ready", before: "True Ready", after: "Unknown Progressing", hasNewSpec: false },
    ],
  },
  { name: "nothing of an object with one state", history: [at(4, ready)], changes: [] },
] as const;

for (const { name, history, changes } of rows)
  test(`conditionChanges returns ${name}`, () => {
    assert.deepEqual(conditionChanges(history), changes);
  });
