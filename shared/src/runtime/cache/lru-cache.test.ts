import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createLruCache } from "./lru-cache.ts";

describe("an LRU cache", () => {
  test("evicts the entry that was not used for longest", () => {
    const cache = createLruCache<number>(2);

    cache.set("a", 1);
    cache.set("b", 2);
    cache.get("a");
    cache.set("c", 3);

    assert.deepEqual([cache.get("a"), cache.get("b"), cache.get("c")], [1, undefined, 3]);
  });

  test("counts an entry that is set again as used", () => {
    const cache = createLruCache<number>(2);

    cache.set("a", 1);
    cache.set("b", 2);
    cache.set("a", 10);
    cache.set("c", 3);

    assert.deepEqual([cache.get("a"), cache.get("b")], [10, undefined]);
  });

  test("removes what is deleted, and everything when it is cleared", () => {
    const cache = createLruCache<number>(2);
    cache.set("a", 1);
    cache.set("b", 2);

    cache.delete("a");
    assert.deepEqual([cache.get("a"), cache.get("b")], [undefined, 2]);
    cache.clear();
    assert.equal(cache.get("b"), undefined);
  });

  test("evicts the least recently used entries until the others are light enough", () => {
    const cache = createLruCache<number>(10, { maxWeight: 10, weightOf: (value) => value });

    cache.set("a", 6);
    cache.set("b", 4);
    cache.set("c", 5);
    assert.deepEqual([cache.get("a"), cache.get("b"), cache.get("c")], [undefined, 4, 5]);

    cache.set("heavy", 20);
    assert.deepEqual([cache.get("b"), cache.get("heavy")], [undefined, 20]);
  });
});
