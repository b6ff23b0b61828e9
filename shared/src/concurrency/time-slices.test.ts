import assert from "node:assert/strict";
import { test } from "vitest";
import { createTimeSlices } from "./time-slices.ts";

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

test("a slice is over after its time, and the next one begins after a pause", async () => {
  const slices = createTimeSlices(5);
  assert.equal(slices.isOver, false);
  const startedAt = performance.now();
  while (performance.now() - startedAt < 6);
  assert.equal(slices.isOver, true);

  await slices.pause();

  assert.equal(slices.isOver, false);
});
