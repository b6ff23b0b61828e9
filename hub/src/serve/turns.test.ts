import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, test } from "vitest";
import { createTurns } from "./turns.ts";

/** Each piece of work takes 4 ms of the 10 that there are in a turn. */
function setUp() {
  const clock = createFakeClock();
  const turns = createTurns(clock, 10);
  const done: number[] = [];
  const come = (work: number) =>
    turns.put(() => {
      clock.advanceNow(4);
      done.push(work);
    });
  return { done, come };
}

describe("work that comes in a crowd", () => {
  test("is done in as many turns of the event loop as it takes, in the order in which it came", async () => {
    const { done, come } = setUp();
    for (const work of [1, 2, 3, 4, 5, 6, 7]) come(work);
    assert.equal(done.join(), "");

    await nextTurn();
    assert.equal(done.join(), "1,2,3");
    await nextTurn();
    come(8);
    await nextTurn();
    assert.equal(done.join(), "1,2,3,4,5,6,7,8");

    come(9);
    await nextTurn();
    assert.equal(done.at(-1), 9);
  });

  test("takes no time of the others when it was taken back", async () => {
    const { done, come } = setUp();
    const takenBack = [1, 2, 3, 4].map(come);
    come(5);
    for (const takeBack of takenBack) takeBack();

    await nextTurn();
    assert.equal(done.join(), "5");
  });
});
