import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createNamespaceBudgets } from "./namespace-budgets.ts";

const unitsOfMs = 25_000;

describe("what the expressions of a namespace may take", () => {
  test("is limited for one event, over all Alerts, and for each namespace by itself", () => {
    const event = createNamespaceBudgets(createFakeClock()).begin();

    assert.equal(event.of("a").take(60 * unitsOfMs), true);
    assert.equal(event.of("a").take(60 * unitsOfMs), false);
    assert.equal(event.of("b").take(60 * unitsOfMs), true);
  });

  test("is limited over many events, and comes back with time", () => {
    const clock = createFakeClock();
    const budgets = createNamespaceBudgets(clock);
    const spend = (ms: number): boolean => {
      const event = budgets.begin();
      const isTaken = event.of("a").take(ms * unitsOfMs);
      event.end();
      return isTaken;
    };

    const events = Array.from({ length: 12 }, () => spend(100));
    assert.deepEqual(events.indexOf(false), 10);
    assert.equal(spend(50), false);
    clock.advanceNow(1_000);
    assert.equal(spend(100), true);
    assert.equal(spend(1), false);
    clock.advanceNow(3_600_000);
    assert.deepEqual(Array.from({ length: 11 }, () => spend(100)).indexOf(false), 10);
  });
});
