import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { delay } from "./clock.ts";
import { createFakeClock } from "./testing/index.ts";

describe("a delay", () => {
  it("ends when its time has passed", async () => {
    const clock = createFakeClock();
    let isOver = false;
    const waiting = delay(clock, 100).then(() => {
      isOver = true;
    });

    await clock.advance(99);
    assert.equal(isOver, false);
    await clock.advance(1);
    assert.equal(isOver, true);
    await waiting;
  });

  it("ends at once when the signal aborts, and leaves no timer", async () => {
    const clock = createFakeClock();
    const abort = new AbortController();
    const waiting = delay(clock, 100, abort.signal);

    abort.abort();
    await waiting;
    await delay(clock, 100, abort.signal);

    assert.deepEqual(clock.waiting(), []);
  });
});

describe("a fake clock", () => {
  it("runs timers in the order of their times, also those that timers start", async () => {
    const clock = createFakeClock();
    const ran: string[] = [];
    clock.setTimeout(() => ran.push(`second at ${clock.monotonic()}`), 20);
    clock.setTimeout(() => {
      ran.push(`first at ${clock.monotonic()}`);
      clock.setTimeout(() => ran.push(`inner at ${clock.monotonic()}`), 5);
    }, 10);

    await clock.advance(30);

    assert.deepEqual(ran, ["first at 10", "inner at 15", "second at 20"]);
    assert.equal(clock.now(), Date.UTC(2026, 0, 1) + 30);
  });

  it("moves wall time without moving timers", () => {
    const clock = createFakeClock();
    clock.setWallTime(0);

    assert.equal(clock.now(), 0);
    assert.equal(clock.monotonic(), 0);
  });
});
