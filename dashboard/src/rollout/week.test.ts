import assert from "node:assert/strict";
import { test } from "vitest";
import { startOfDay, weekOf } from "./week.ts";

test("a week begins at the local midnight and has what falls into it", () => {
  const nowMs = new Date(2026, 0, 5, 12).getTime();
  const start = startOfDay(nowMs);
  const at = (day: number, hour: number) => new Date(2026, 0, day, hour).toISOString();
  const { days, spans, nowPercent } = weekOf(
    [
      { from: at(3, 0), to: at(4, 0) },
      { from: at(4, 22), to: at(5, 12) },
      { from: at(11, 12), to: at(12, 12) },
    ],
    start,
    nowMs,
  );

  assert.deepEqual(
    days.map(({ name }) => name),
    ["Mon 5", "Tue 6", "Wed 7", "Thu 8", "Fri 9", "Sat 10", "Sun 11"],
  );
  const half = 100 / 14;
  const rounded = (value: number) => Math.round(value * 1_000) / 1_000;
  assert.deepEqual(
    spans.map(({ left, width }) => [rounded(left), rounded(width)]),
    [
      [0, rounded(half)],
      [rounded(13 * half), rounded(half)],
    ],
  );
  assert.equal(rounded(nowPercent), rounded(half));
});
