import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createFakeClock } from "../time/testing/index.ts";
import { createKeyedRateLimiter, createTokenBucket } from "./token-bucket.ts";

describe("a token bucket", () => {
  it("grants a burst, then tokens at its rate", () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock, perSecond: 2, burst: 2 });

    assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [true, true, false]);
    clock.advanceNow(499);
    assert.equal(bucket.take(), false);
    clock.advanceNow(1);
    assert.equal(bucket.has(), true);
    assert.equal(bucket.take(), true);
    assert.equal(bucket.has(), false);
  });

  it("grants several tokens at once when it has them", () => {
    const bucket = createTokenBucket({ clock: createFakeClock(), perSecond: 1, burst: 5 });

    assert.deepEqual([bucket.take(3), bucket.take(3), bucket.take(2)], [true, false, true]);
  });

  it("reserves future tokens, and returns the time until they are available", () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock, perSecond: 10, burst: 2 });

    assert.deepEqual(
      [bucket.reserve(), bucket.reserve(), bucket.reserve(), bucket.reserve()],
      [0, 0, 100, 200],
    );
    assert.equal(bucket.take(), false);
    clock.advanceNow(300);
    assert.equal(bucket.take(), true);
  });

  it("has tokens that were given back at once, and never more than its capacity", () => {
    const bucket = createTokenBucket({ clock: createFakeClock(), perSecond: 1, burst: 2 });
    bucket.take(2);

    bucket.giveBack();
    assert.deepEqual([bucket.take(), bucket.take()], [true, false]);
    bucket.giveBack(5);

    assert.deepEqual([bucket.take(2), bucket.take()], [true, false]);
  });

  it("is full again after a while, and never above its capacity", () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock, perSecond: 1, burst: 2 });
    assert.equal(bucket.isFull, true);

    bucket.take();
    assert.equal(bucket.isFull, false);
    clock.advanceNow(1_000);
    assert.equal(bucket.isFull, true);
    clock.advanceNow(60_000);

    assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [true, true, false]);
  });

  it("loses no token to rounding", () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock, perSecond: 1 / 60, burst: 1 });

    for (let minute = 0; minute < 1_000; minute += 1) {
      assert.equal(bucket.take(), true, `in minute ${minute}`);
      clock.advanceNow(60_000);
    }
  });
});

describe("a keyed rate limiter", () => {
  it("limits each key separately and evicts the least recently used", () => {
    const clock = createFakeClock();
    const limiter = createKeyedRateLimiter({ clock, perSecond: 1, burst: 1, maxKeys: 2 });

    for (const key of ["a", "b", "c"]) assert.equal(limiter.take(key), true);
    assert.equal(limiter.take("c"), false);
    assert.equal(limiter.has("b"), false);
    assert.equal(limiter.take("a"), true, "a was evicted");
  });

  it("grants several tokens of a key at once when it has them", () => {
    const limiter = createKeyedRateLimiter({ clock: createFakeClock(), perSecond: 1, burst: 5 });

    assert.deepEqual(
      [limiter.take("a", 3), limiter.take("a", 3), limiter.has("a", 2), limiter.take("a", 2)],
      [true, false, true, true],
    );
  });
});
