import assert from "node:assert/strict";
import { test } from "vitest";
import type { AnyState } from "../state/index.ts";
import { type Harm, harmOf } from "./harm.ts";

const rows: readonly (readonly [AnyState, hasRun: boolean, Harm])[] = [
  ["Offline", true, "down"],
  ["Offline", false, "down"],
  ["NotReady", true, "down"],
  ["NotReady", false, "down"],
  ["ErrApplied", true, "down"],
  ["ErrApplied", false, "never"],
  ["NotAccepted", true, "unchanged"],
  ["NotAccepted", false, "never"],
  ["Stalled", true, "unchanged"],
  ["Modified", true, "unchanged"],
  ["Blocked", true, "unchanged"],
  ["Blocked", false, "never"],
  ["NoTargets", false, "never"],
  ["Failed", true, "unchanged"],
  ["WaitCheckIn", false, "never"],
];
test.each(rows)("%s, having run: %s, is %s", (state, hasRun, harm) => {
  assert.equal(harmOf(state, hasRun), harm);
});
