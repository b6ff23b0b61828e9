import assert from "node:assert/strict";
import { setImmediate as nextIteration } from "node:timers/promises";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createEventLoopQueue } from "./event-loop-queue.ts";

/** Each piece of work takes 4 ms of a slice of 10 ms. */
function setUp() {
  const clock = createFakeClock();
  const queue = createEventLoopQueue(clock, 10);
  const done: number[] = [];
  const add = (work: number) =>
    queue.add(() => {
      clock.advanceNow(4);
      done.push(work);
    });
  return { done, add };
}

describe("queued work", () => {
  test("runs in slices of the event loop, in order", async () => {
    const { done, add } = setUp();
    for (const work of [1, 2, 3, 4, 5, 6, 7]) add(work);
    assert.equal(done.join(), "");

    await nextIteration();
    assert.equal(done.join(), "1,2,3");
    await nextIteration();
    add(8);
    await nextIteration();
    assert.equal(done.join(), "1,2,3,4,5,6,7,8");

    add(9);
    await nextIteration();
    assert.equal(done.at(-1), 9);
  });

  test("takes no time after it was removed", async () => {
    const { done, add } = setUp();
    const removals = [1, 2, 3, 4].map(add);
    add(5);
    for (const remove of removals) remove();

    await nextIteration();
    assert.equal(done.join(), "5");
  });
});
