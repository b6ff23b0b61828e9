import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, test } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

describe("a rate limit", () => {
  test("grants a burst, then one for each part of a second that has passed", () => {
    const clock = createFakeClock();
    const limit = createRateLimit({ clock, perSecond: 2, burst: 2 });

    assert.deepEqual([limit.take("a"), limit.take("a"), limit.take("a")], [true, true, false]);
    clock.advanceNow(499);
    assert.equal(limit.take("a"), false);
    clock.advanceNow(1);
    assert.equal(limit.has("a"), true);
    assert.equal(limit.take("a"), true);
    assert.equal(limit.has("a"), false);
  });

  test("grants several at once where there are as many", () => {
    const clock = createFakeClock();
    const limit = createRateLimit({ clock, perSecond: 1, burst: 5 });

    assert.deepEqual(
      [limit.take("a", 3), limit.take("a", 3), limit.take("a", 2)],
      [true, false, true],
    );
  });

  test("counts each key apart and forgets the ones used least lately", () => {
    const clock = createFakeClock();
    const limit = createRateLimit({ clock, perSecond: 1, burst: 1, maxKeys: 2 });

    for (const key of ["a", "b", "c"]) assert.equal(limit.take(key), true);
    assert.equal(limit.take("c"), false);
    assert.equal(limit.take("a"), true, "a was forgotten");
  });
});
