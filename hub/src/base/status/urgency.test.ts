import assert from "node:assert/strict";
import type { Condition } from "@flotilla/shared/api";
import { test } from "vitest";
import { isUrgentChange } from "./urgency.ts";

/** `True`, `False Error`, `absent`. */
function condition(text: string): Condition | undefined {
  const [status, reason = ""] = text.split(" ");
  if (status !== "True" && status !== "False" && status !== "Unknown") return undefined;
  return { type: "Ready", status, reason };
}

const cases: readonly (readonly [before: string, after: string, isUrgentChange: boolean])[] = [
  ["absent", "absent", false],
  ["absent", "True Ready", true],
  ["Unknown Progressing", "True Ready", true],
  ["False NotReady", "True Ready", true],
  ["True Ready", "True Ready", false],
  ["True NoTargets", "True Ready", false],
  ["absent", "Unknown Progressing", false],
  ["True Ready", "Unknown Progressing", false],
  ["absent", "False WaitApplied", false],
  ["True Ready", "False WaitApplied", false],
  ["True Ready", "False OutOfSync", false],
  ["True Ready", "False Pending", false],
  ["True Ready", "False NotReady", true],
  ["absent", "False NotReady", false],
  ["False WaitApplied", "False NotReady", false],
  ["absent", "False ErrApplied", true],
  ["False WaitApplied", "False ErrApplied", true],
  ["False ErrApplied", "False ErrApplied", false],
  ["True Ready", "False Modified", true],
  ["Unknown Progressing", "False Error", true],
];
for (const [before, after, expected] of cases) {
  test(`${after} after ${before} ${expected ? "is" : "is not"} urgent`, () => {
    assert.equal(isUrgentChange(condition(before), condition(after)), expected);
  });
}

test("another message of the same failure is not urgent", () => {
  const failure: Condition = { type: "Ready", status: "False", reason: "Error", message: "a" };

  assert.equal(isUrgentChange(failure, { ...failure, message: "b" }), false);
});
