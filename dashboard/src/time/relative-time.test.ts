import assert from "node:assert/strict";
import { test } from "vitest";
import { relativeText } from "./relative-time.ts";

test("times are relative, in the largest whole unit", () => {
  const now = Date.UTC(2026, 0, 2);
  const rows = [
    [0, "now"],
    [1_000, "1s ago"],
    [59_000, "59s ago"],
    [60_000, "1m ago"],
    [3_600_000, "1h ago"],
    [49 * 3_600_000, "2d ago"],
    [-90_000, "in 1m"],
  ] as const;
  for (const [age, text] of rows) assert.equal(relativeText(now - age, now), text);
});
