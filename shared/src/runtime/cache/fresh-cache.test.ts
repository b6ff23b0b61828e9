import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createFakeClock } from "../time/testing/index.ts";
import { createFreshCache } from "./fresh-cache.ts";

describe("a cache of fresh values", () => {
  test("reads once for concurrent callers, and again when the value is old", async () => {
    const clock = createFakeClock();
    const cache = createFreshCache<number>({ maxEntries: 2, freshMs: 1_000, clock });
    let reads = 0;
    const read = () => {
      reads += 1;
      return Promise.resolve(reads);
    };

    assert.deepEqual(await Promise.all([cache.get("a", read), cache.get("a", read)]), [1, 1]);
    clock.advanceNow(999);
    assert.equal(await cache.get("a", read), 1);
    clock.advanceNow(1);
    assert.equal(await cache.get("a", read), 2);
    assert.equal(await cache.get("b", read), 3);
  });

  test("keeps a value for as long as it says, from the end of the read", async () => {
    const clock = createFakeClock();
    const cache = createFreshCache<boolean>({
      maxEntries: 2,
      freshMs: (value) => (value ? 1_000 : 5_000),
      clock,
    });
    const reading = Promise.withResolvers<boolean>();
    const first = cache.get("slow", () => reading.promise);
    clock.advanceNow(60_000);
    assert.equal(cache.has("slow"), true);
    reading.resolve(false);
    await first;

    clock.advanceNow(4_999);
    assert.deepEqual([cache.has("slow"), cache.has("other")], [true, false]);
    clock.advanceNow(1);
    assert.equal(cache.has("slow"), false);
  });

  test("does not keep what could not be read", async () => {
    const clock = createFakeClock();
    const cache = createFreshCache<number>({ maxEntries: 2, freshMs: 1_000, clock });
    await assert.rejects(cache.get("a", () => Promise.reject(new Error("unreachable"))));

    assert.equal(await cache.get("a", () => Promise.resolve(7)), 7);
  });
});
