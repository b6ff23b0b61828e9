import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { test } from "vitest";
import { createDoubts } from "./doubts.ts";

const key = "fleet-default/web";

test("a doubt is looked into once", () => {
  const doubts = createDoubts(createFakeClock(0));

  assert.equal(doubts.take(key), false);
  assert.equal(doubts.raise(key), true);
  assert.equal(doubts.take(key), true);
  assert.equal(doubts.take(key), false);
});

test("a thousand complaints in a moment are one look", () => {
  const doubts = createDoubts(createFakeClock(0));

  const looks = Array.from({ length: 1_000 }, () => doubts.raise(key)).filter(Boolean);

  assert.equal(looks.length, 1);
});

test("complaints that go on are looked into ever more seldom, and at least every few minutes", async () => {
  const clock = createFakeClock(0);
  const doubts = createDoubts(clock);
  const looks: number[] = [];

  for (let second = 0; second <= 1_200; second += 1) {
    if (doubts.raise(key)) looks.push(second);
    await clock.advance(1_000);
  }

  assert.deepEqual(looks, [0, 4, 12, 28, 60, 124, 252, 508, 808, 1_108]);
});

test("another pin is doubted anew at once", () => {
  const doubts = createDoubts(createFakeClock(0));
  doubts.raise(key);

  doubts.forget(key);

  assert.equal(doubts.take(key), false);
  assert.equal(doubts.raise(key), true);
});
