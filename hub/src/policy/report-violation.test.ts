import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { EventNote } from "@flotilla/shared/kube/events/events.ts";
import { test } from "vitest";
import { hubErrors } from "../errors.ts";
import { aHelmOp } from "../testing/objects.ts";
import { reportViolation } from "./report-violation.ts";

type Before = Parameters<typeof reportViolation>[3];

const message = "disallowed helm repo x";
const violation = new AppError(hubErrors.POLICY_VIOLATION, message);
const rows: readonly (readonly [what: string, before: Before, count: number])[] = [
  ["nothing was told yet", { told: undefined, condition: undefined }, 1],
  [
    "it was told of this generation, with remarks",
    { told: { generation: 3, message: `${message}; and a remark` }, condition: undefined },
    0,
  ],
  ["it was told of an earlier one", { told: { generation: 2, message }, condition: undefined }, 1],
  ["another was told", { told: { generation: 3, message: "y" }, condition: undefined }, 1],
  [
    "the hub has started anew and the status tells it",
    {
      told: undefined,
      condition: { type: "Ready", status: "False", observedGeneration: 3, message },
    },
    0,
  ],
  [
    "the status tells of an earlier generation",
    {
      told: undefined,
      condition: { type: "Ready", status: "False", observedGeneration: 2, message },
    },
    1,
  ],
  [
    "all was well in between, as memory knows",
    {
      told: { generation: 3, message: "" },
      condition: { type: "Ready", status: "False", observedGeneration: 3, message },
    },
    1,
  ],
];
for (const [what, before, count] of rows) {
  test(`a violation is ${count === 1 ? "reported" : "not reported again"} where ${what}`, () => {
    const notes: EventNote[] = [];
    const events = {
      record: (_object: unknown, note: EventNote) => void notes.push(note),
      flush: () => Promise.resolve(),
    };

    reportViolation(events, aHelmOp({}, { generation: 3 }), violation, before);

    const note: EventNote = {
      type: "Warning",
      reason: "PolicyViolation",
      action: "ApplyPolicyRestrictions",
      note: message,
    };
    assert.deepEqual(notes, count === 1 ? [note] : []);
  });
}

test("a refusal that no Policy is the cause of is none of its events", () => {
  const events = { record: () => assert.fail(), flush: () => Promise.resolve() };
  const error = new AppError(hubErrors.HELMOP_INVALID, message);

  reportViolation(events, aHelmOp(), error, { told: undefined, condition: undefined });
});
