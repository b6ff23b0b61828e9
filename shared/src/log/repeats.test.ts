import assert from "node:assert/strict";
import { test } from "vitest";
import { createFakeClock } from "../clock/testing/fake-clock.ts";
import { createRepeats } from "./repeats.ts";

test("a message is news once, and again after ten minutes", () => {
  const clock = createFakeClock();
  const repeats = createRepeats(clock);

  assert.equal(repeats.isNews("away"), true);
  clock.advanceNow(599_999);
  assert.equal(repeats.isNews("away"), false);
  clock.advanceNow(1);
  assert.equal(repeats.isNews("away"), true);
  assert.equal(repeats.isNews("away"), false);
});

test("another message is news, and so is the first one after it", () => {
  const repeats = createRepeats(createFakeClock());
  repeats.isNews("away");

  assert.equal(repeats.isNews("refused"), true);
  assert.equal(repeats.isNews("away"), true);
});

test("a message is news after what it told of was over", () => {
  const repeats = createRepeats(createFakeClock());
  repeats.isNews("away");

  repeats.reset();

  assert.equal(repeats.isNews("away"), true);
});
