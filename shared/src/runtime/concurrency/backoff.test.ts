import assert from "node:assert/strict";
import { test } from "vitest";
import { backoffDelayMs, createBackoff, withJitter } from "./backoff.ts";

const limits = { firstMs: 100, longestMs: 1_000 };

test("a delay doubles with each failure, up to the maximum", () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 5_000].map((failures) => backoffDelayMs(limits, failures));

  assert.deepEqual(delays, [100, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test("jitter is at most a quarter of the delay", () => {
  assert.deepEqual([withJitter(100, 0), withJitter(100, 0.5), withJitter(100, 1)], [75, 100, 125]);
});

test("a backoff starts over after a reset", () => {
  const backoff = createBackoff({ ...limits, random: () => 0.5 });

  assert.deepEqual([backoff.next(), backoff.next(), backoff.next()], [100, 200, 400]);
  backoff.reset();
  assert.equal(backoff.next(), 100);
});
