import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createTurns } from "./turns.ts";

test("work is done a little in each turn of the event loop, in the order in which it came", async () => {
  const inTurn = createTurns(3);
  const done: number[] = [];
  const come = (work: number) => inTurn(() => void done.push(work));

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
