import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createFakeClock } from "../time/testing/index.ts";
import { createFairPool } from "./fair-pool.ts";

function setUp(capacity = 4) {
  const clock = createFakeClock();
  const pool = createFairPool(clock, { capacity, keepMs: 1_000 });
  const evicted: string[] = [];
  return {
    clock,
    pool,
    evicted,
    /** `a1`: the first of caller `a`. */
    admit: (...names: readonly string[]) =>
      names.map((name) => pool.admit(name.charAt(0), () => void evicted.push(name))),
  };
}

describe("a full pool", () => {
  test("takes a place from the caller that has the most, however young it is", () => {
    const { evicted, admit } = setUp();
    admit("b1", "a1", "a2", "a3");

    const [release] = admit("c1");

    assert.ok(release !== undefined);
    assert.deepEqual(evicted, ["a1"]);
  });

  test("keeps young places of callers that have no more than the new one", () => {
    const { evicted, admit } = setUp();
    admit("a1", "b1", "c1", "d1");

    assert.deepEqual(admit("e1", "a2"), [undefined, undefined]);
    assert.deepEqual(evicted, []);
  });

  test("takes the oldest place once it was kept long enough", async () => {
    const { clock, evicted, admit } = setUp();
    admit("a1", "b1", "c1", "d1");
    await clock.advance(1_000);

    admit("e1", "f1");

    assert.deepEqual(evicted, ["a1", "b1"]);
  });

  test("takes the place of the same caller, so that a flood of one caller costs others none", async () => {
    const { clock, evicted, admit } = setUp();
    admit("b1", "a1", "a2", "a3");
    await clock.advance(1_000);

    admit("a4", "a5");

    assert.deepEqual(evicted, ["a1", "a2"]);
  });

  test("admits again when a place is released, and a place is released once", () => {
    const { pool, evicted, admit } = setUp(1);
    const [release] = admit("a1");

    release?.();
    release?.();
    admit("b1");
    release?.();

    assert.deepEqual(evicted, []);
    assert.equal(pool.size, 1);
  });

  test("lets one honest caller in for each flood, from one caller or from many", async () => {
    for (const attackers of [1, 500]) {
      const clock = createFakeClock();
      const pool = createFairPool(clock, { capacity: 64, keepMs: 1_000 });
      for (let at = 0; at < 2_000; at += 1) {
        pool.admit(`attacker-${at % attackers}`, () => undefined);
        await clock.advance(1);
      }
      let isEvicted = false;
      await clock.advance(1_000);

      const release = pool.admit("honest", () => {
        isEvicted = true;
      });
      // Its request arrives within a few milliseconds.
      for (let at = 0; at < 20; at += 1) pool.admit(`attacker-${at % attackers}`, () => undefined);

      assert.ok(release !== undefined);
      assert.equal(isEvicted, false);
      assert.equal(pool.size, 64);
    }
  });
});
