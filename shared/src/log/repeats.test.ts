import assert from "node:assert/strict";
import { test } from "vitest";
import { createFakeClock } from "../time/testing/fake-clock.ts";
import { createRepeatFilter } from "./log.ts";

test("a message is news once, and again after ten minutes", () => {
  const clock = createFakeClock();
  const repeats = createRepeatFilter(clock);

  assert.equal(repeats.isNew("away"), true);
  clock.advanceNow(599_999);
  assert.equal(repeats.isNew("away"), false);
  clock.advanceNow(1);
  assert.equal(repeats.isNew("away"), true);
  assert.equal(repeats.isNew("away"), false);
});

test("another message is news, and so is the first one after it", () => {
  const repeats = createRepeatFilter(createFakeClock());
  repeats.isNew("away");

  assert.equal(repeats.isNew("refused"), true);
  assert.equal(repeats.isNew("away"), true);
});

test("a message is news after what it told of was over", () => {
  const repeats = createRepeatFilter(createFakeClock());
  repeats.isNew("away");

  repeats.reset();

  assert.equal(repeats.isNew("away"), true);
});
