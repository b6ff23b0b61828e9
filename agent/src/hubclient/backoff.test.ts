import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { backoffMs, reconnectBackoff } from "./backoff.ts";

suite("the reconnect backoff", () => {
  for (const [failures, random, expected] of [
    [1, 0, 250],
    [1, 1, 500],
    [2, 1, 1_000],
    [7, 1, 30_000],
    [7, 0, 15_000],
    [10_000, 1, 30_000],
  ] as const) {
    test(`is ${expected} ms after ${failures} failures with random ${random}`, () => {
      assert.equal(backoffMs(reconnectBackoff, failures, random), expected);
    });
  }
});
