import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { backoffMs, linkBackoff } from "./backoff.ts";

describe("the wait before the next try", () => {
  for (const [failures, random, expected] of [
    [1, 0, 250],
    [1, 1, 500],
    [2, 1, 1_000],
    [7, 1, 30_000],
    [7, 0, 15_000],
    [10_000, 1, 30_000],
  ] as const) {
    test(`is ${expected} ms after ${failures} failures with the die at ${random}`, () => {
      assert.equal(backoffMs(linkBackoff, failures, random), expected);
    });
  }
});
