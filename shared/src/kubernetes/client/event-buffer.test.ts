import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createEventBuffer } from "./event-buffer.ts";

function start(highWaterMark = 2) {
  const calls: string[] = [];
  const buffer = createEventBuffer<number>({
    highWaterMark,
    onFull: () => calls.push("full"),
    onDrained: () => calls.push("drained"),
  });
  return { buffer, calls };
}

describe("an event buffer", () => {
  it("returns events in order, to a reader that starts first or last", async () => {
    const { buffer } = start();
    const waiting = buffer.next();

    for (const event of [1, 2, 3]) buffer.push(event);
    const events = [await waiting, await buffer.next(), await buffer.next()];

    assert.deepEqual(
      events.map(({ value }) => value),
      [1, 2, 3],
    );
  });

  it("calls onFull once, and onDrained once", async () => {
    const { buffer, calls } = start();

    for (const event of [1, 2, 3]) buffer.push(event);
    await buffer.next();
    await buffer.next();
    assert.deepEqual(calls, ["full"]);
    await buffer.next();

    assert.deepEqual(calls, ["full", "drained"]);
  });

  it("returns what was pushed, then the error once, then the end", async () => {
    const { buffer } = start();
    buffer.push(1);
    buffer.end(new Error("broken"));
    buffer.end(new Error("later"));

    assert.deepEqual(await buffer.next(), { done: false, value: 1 });
    await assert.rejects(buffer.next(), /broken/);
    assert.deepEqual(await buffer.next(), { done: true, value: undefined });
  });

  it("fails or ends a waiting reader", async () => {
    const [failing, ending] = [start().buffer, start().buffer];
    const [failed, ended] = [failing.next(), ending.next()];

    failing.end(new Error("broken"));
    ending.discard();

    await assert.rejects(failed, /broken/);
    assert.deepEqual(await ended, { done: true, value: undefined });
  });

  it("drops unread events when it is discarded", async () => {
    const { buffer } = start();
    buffer.push(1);

    buffer.discard();

    assert.deepEqual(await buffer.next(), { done: true, value: undefined });
  });
});
