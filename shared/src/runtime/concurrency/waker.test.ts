import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createFakeClock, settle } from "../time/testing/index.ts";
import { createWaker } from "./waker.ts";

describe("a waker", () => {
  const { signal } = new AbortController();

  it("ends a wait before its timeout", async () => {
    const clock = createFakeClock();
    const waker = createWaker(clock);
    const waiting = waker.wait(100, signal);

    waker.wake();
    await waiting;

    assert.deepEqual(clock.waiting(), []);
  });

  it("ends the next wait when none has started, and only that one", async () => {
    const clock = createFakeClock();
    const waker = createWaker(clock);
    waker.wake();
    await waker.wait(100, signal);
    let isOver = false;
    void waker.wait(100, signal).then(() => {
      isOver = true;
    });

    await settle();
    assert.equal(isOver, false);
    await clock.advance(100);
    assert.equal(isOver, true);
  });

  it("ends a wait without a timeout when the signal aborts", async () => {
    const clock = createFakeClock();
    const abort = new AbortController();
    const waiting = createWaker(clock).wait(undefined, abort.signal);

    abort.abort();

    await waiting;
  });
});
