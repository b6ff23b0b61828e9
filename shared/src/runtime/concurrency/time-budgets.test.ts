import assert from "node:assert/strict";
import { test } from "vitest";
import { createFakeClock } from "../time/testing/index.ts";
import { createTimeBudgets } from "./time-budgets.ts";

const limits = { burstMs: 1_000, msPerSecond: 100, maxKeys: 2 };

test("a key has a burst, and then what comes back with time", () => {
  const clock = createFakeClock();
  const budgets = createTimeBudgets(clock, limits);

  budgets.spend("a", 1_050);
  assert.equal(budgets.leftMs("a"), -50);
  assert.equal(budgets.leftMs("b"), 1_000);
  clock.advanceNow(1_000);
  assert.equal(budgets.leftMs("a"), 50);
  clock.advanceNow(3_600_000);
  assert.equal(budgets.leftMs("a"), 1_000);
});

test("the keys that are remembered are the latest", () => {
  const budgets = createTimeBudgets(createFakeClock(), limits);

  for (const key of ["a", "b", "c"]) budgets.spend(key, 600);

  assert.deepEqual(["a", "b", "c"].map(budgets.leftMs), [1_000, 400, 400]);
});
