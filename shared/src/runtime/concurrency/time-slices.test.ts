import assert from "node:assert/strict";
import { test } from "vitest";
import { createTimeSlices, nextIteration } from "./time-slices.ts";

test("work in slices lets timers and input have their turn while it runs", async () => {
  const slices = createTimeSlices(0);
  let turns = 0;
  let isRunning = true;
  const other = (): void => {
    turns += 1;
    if (isRunning) setImmediate(other);
  };
  setImmediate(other);

  for (let step = 0; step < 100; step += 1) if (slices.isOver) await slices.pause();
  isRunning = false;

  assert.ok(turns >= 99, `${turns} turns`);
});

test("a hundred pieces of work hold the event loop up no longer than one", async () => {
  let longest = 0;
  let inThisRound = 0;
  let isRunning = true;
  const round = (): void => {
    longest = Math.max(longest, inThisRound);
    inThisRound = 0;
    if (isRunning) setImmediate(round);
  };
  setImmediate(round);

  const work = async (): Promise<void> => {
    await nextIteration();
    inThisRound += 1;
  };
  await Promise.all(Array.from({ length: 100 }, work));
  isRunning = false;

  assert.equal(longest, 1);
});

test("a slice is over after its time, and the next one begins after a pause", async () => {
  const slices = createTimeSlices(5);
  assert.equal(slices.isOver, false);
  const startedAt = performance.now();
  while (performance.now() - startedAt < 6);
  assert.equal(slices.isOver, true);

  await slices.pause();

  assert.equal(slices.isOver, false);
});
