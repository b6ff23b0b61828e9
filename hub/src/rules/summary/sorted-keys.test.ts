import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { createSortedKeys } from "./sorted-keys.ts";

describe("sorted keys", () => {
  test("equal a newly sorted set after any additions and deletions", () => {
    const step = fc.record({ key: fc.nat({ max: 60 }).map(String), isAdded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.nat({ max: 20 }), (steps, count) => {
        const keys = createSortedKeys();
        const set = new Set<string>();
        for (const { key, isAdded } of steps) {
          if (isAdded) set.add(key);
          else set.delete(key);
          if (isAdded) keys.add(key);
          else keys.delete(key);
        }

        const sorted = [...set].sort();
        assert.deepEqual([...keys], sorted);
        assert.deepEqual(keys.first(count), sorted.slice(0, count));
        assert.equal(keys.size, sorted.length);
      }),
    );
  });

  test("stay in order when there are many, with any order of changes", () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `c${String(index).padStart(4, "0")}`);
    // 1,009 and 3,000 have no common divisor: another order of all of them.
    const shuffled = names.map((_, index) => names[(index * 1_009) % names.length] ?? "");
    const keys = createSortedKeys();
    for (const name of shuffled) keys.add(name);
    assert.deepEqual([...keys], names);

    for (const name of shuffled.slice(0, 2_500)) keys.delete(name);
    const left = shuffled.slice(2_500).sort();
    assert.deepEqual([...keys], left);
    assert.deepEqual(keys.first(300), left.slice(0, 300));

    for (const name of left) keys.delete(name);
    assert.deepEqual([...keys], []);
    keys.add("a");
    assert.deepEqual(keys.first(5), ["a"]);
  });
});
