import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { test } from "vitest";
import { createOccasions } from "./request-times.ts";

test("an occasion begins when its value is first seen, and is over after a while", () => {
  const clock = createFakeClock();
  const occasions = createOccasions(clock);

  assert.equal(occasions.since("one"), 0);
  clock.advanceNow(4_000);
  assert.equal(occasions.since("one"), 0);
  assert.equal(occasions.since("two"), 4_000);
  clock.advanceNow(6_001);
  assert.equal(occasions.since("one"), 10_001, "the same value, on another occasion");
});
