import assert from "node:assert/strict";
import type { Condition } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { EventNote } from "@flotilla/shared/kube/events";
import { test } from "vitest";
import { hubErrors } from "../../base/errors/hub-errors.ts";
import { aHelmOp } from "../../testing/index.ts";
import { recordViolation } from "./record-violation.ts";

const message = "disallowed helm repo x";
const violation = new AppError(hubErrors.POLICY_VIOLATION, message);
const rejected: Condition = {
  type: "Accepted",
  status: "False",
  reason: "PolicyViolation",
  observedGeneration: 3,
  message: "any",
};
const rows: readonly (readonly [what: string, before: Condition | undefined, count: number])[] = [
  ["there is no condition yet", undefined, 1],
  ["it was rejected for this generation, whatever the message", rejected, 0],
  ["it was rejected for an earlier generation", { ...rejected, observedGeneration: 2 }, 1],
  ["it was rejected for another reason", { ...rejected, reason: "Invalid" }, 1],
  ["it was accepted", { ...rejected, status: "True", reason: "" }, 1],
];

function recorded(error: AppError, before: Condition | undefined): readonly EventNote[] {
  const notes: EventNote[] = [];
  const events = {
    record: (_object: unknown, note: EventNote) => void notes.push(note),
    flush: () => Promise.resolve(),
  };
  recordViolation(events, aHelmOp({}, { generation: 3 }), before, error);
  return notes;
}

for (const [what, before, count] of rows) {
  test(`a violation is ${count === 1 ? "recorded" : "not recorded"} when ${what}`, () => {
    const note: EventNote = {
      type: "Warning",
      reason: "PolicyViolation",
      action: "ApplyPolicyRestrictions",
      note: message,
    };
    assert.deepEqual(recorded(violation, before), count === 1 ? [note] : []);
  });
}

test("no event is recorded for an error that is not a violation", () => {
  assert.deepEqual(recorded(new AppError(hubErrors.HELMOP_INVALID, message), undefined), []);
});
