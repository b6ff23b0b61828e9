import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { slotAfter, slotOffset, slotUpTo, wholeSeconds } from "./poll-slots.ts";

const offset = fc.nat({ max: 2 ** 32 - 1 });
const intervalMs = fc.integer({ min: 1, max: 7 * 24 * 3_600_000 });
const timeMs = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });

test("each time is between two slots that are one interval apart", () => {
  fc.assert(
    fc.property(offset, intervalMs, timeMs, (at, interval, time) => {
      const [last, next] = [slotUpTo(at, interval, time), slotAfter(at, interval, time)];
      assert.ok(last <= time && time < next);
      assert.equal(next - last, wholeSeconds(interval));
      assert.ok(Number.isInteger(last / 1_000));
    }),
  );
});

test("the slot after a slot is the next one, and the slot up to a slot is the slot itself", () => {
  fc.assert(
    fc.property(offset, intervalMs, timeMs, (at, interval, time) => {
      const slot = slotAfter(at, interval, time);
      assert.equal(slotUpTo(at, interval, slot), slot);
      assert.equal(slotAfter(at, interval, slot), slot + wholeSeconds(interval));
    }),
  );
});

test("the slots of a longer interval are among those of an interval that divides it", () => {
  fc.assert(
    fc.property(offset, timeMs, fc.integer({ min: 1, max: 100 }), (at, time, times) => {
      const long = slotAfter(at, 60_000 * times, time);
      assert.equal(slotUpTo(at, 60_000, long), long);
    }),
  );
});

test("an address has one offset in all its spellings", () => {
  const known = slotOffset("https://charts.example.com/stable", "hub");
  for (const repo of [" https://charts.example.com/stable/", "https://Charts.example.com/stable//"])
    assert.equal(slotOffset(repo, "hub"), known);
});
