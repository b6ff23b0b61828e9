import assert from "node:assert/strict";
import { test } from "vitest";
import { formatGoDuration, parseGoDuration } from "./go-duration.ts";

const rows: readonly (readonly [text: string, milliseconds: number | undefined])[] = [
  ["0", 0],
  ["0s", 0],
  ["15s", 15_000],
  ["1h30m", 5_400_000],
  ["1.5h", 5_400_000],
  [".5s", 500],
  ["500ms", 500],
  ["-2m", -120_000],
  ["", undefined],
  ["5", undefined],
  ["1d", undefined],
  ["1h 30m", undefined],
  ["m5", undefined],
];

for (const [text, milliseconds] of rows) {
  test(`"${text}" is ${milliseconds === undefined ? "no duration" : `${milliseconds} ms`}`, () => {
    assert.equal(parseGoDuration(text), milliseconds);
  });
}

test("durations are written without empty units", () => {
  assert.deepEqual([0, 250, 45_000, 300_000, 5_400_000].map(formatGoDuration), [
    "0s",
    "250ms",
    "45s",
    "5m",
    "1h30m",
  ]);
});
