import assert from "node:assert/strict";
import { test } from "vitest";
import { formatMicroTime, formatTime, formatTimeMs, parseTime } from "./rfc3339.ts";

const epochMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

test("times have seconds, milliseconds or microseconds", () => {
  assert.equal(formatTime(epochMs), "2026-01-02T03:04:05Z");
  assert.equal(formatTimeMs(epochMs), "2026-01-02T03:04:05.678Z");
  assert.equal(formatMicroTime(epochMs), "2026-01-02T03:04:05.678000Z");
});

test("times are parsed, and an invalid time is undefined", () => {
  assert.equal(parseTime("2026-01-02T03:04:05Z"), epochMs - 678);
  assert.equal(parseTime(formatMicroTime(epochMs)), epochMs);
  assert.equal(parseTime("yesterday"), undefined);
  assert.equal(parseTime(undefined), undefined);
});
