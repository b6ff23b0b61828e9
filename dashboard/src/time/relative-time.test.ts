import assert from "node:assert/strict";
import { test } from "vitest";
import { clockOffsetMs, dueText, relativeText } from "./relative-time.ts";

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

test("what is to come is due once its time has passed, and never in the future", () => {
  const now = Date.UTC(2026, 0, 2);
  const rows = [
    [-90_000, "in 1m"],
    [0, "now"],
    [999, "now"],
    [240_000, "due since 4m"],
  ] as const;
  for (const [age, text] of rows) assert.equal(dueText(now - age, now), text);
});

test("the hub's clock counts where the browser's is wrong", () => {
  const now = Date.UTC(2026, 0, 2);
  assert.equal(clockOffsetMs("2026-01-02T00:05:00Z", now), 300_000);
  assert.equal(clockOffsetMs("2026-01-01T23:59:59Z", now), 0);
});
