import assert from "node:assert/strict";
import { test } from "vitest";
import { createFakeClock } from "../time/testing/index.ts";
import { createRepeatFilter } from "./log.ts";

test("a message is new once, and again after ten minutes", () => {
  const clock = createFakeClock();
  const repeats = createRepeatFilter(clock);

  assert.equal(repeats.isNew("away"), true);
  clock.advanceNow(599_999);
  assert.equal(repeats.isNew("away"), false);
  clock.advanceNow(1);
  assert.equal(repeats.isNew("away"), true);
  assert.equal(repeats.isNew("away"), false);
});

test("another message is new, and so is the first one after it", () => {
  const repeats = createRepeatFilter(createFakeClock());
  repeats.isNew("away");

  assert.equal(repeats.isNew("rejected"), true);
  assert.equal(repeats.isNew("away"), true);
});

test("a message is new again after a reset", () => {
  const repeats = createRepeatFilter(createFakeClock());
  repeats.isNew("away");

  repeats.reset();

  assert.equal(repeats.isNew("away"), true);
});
