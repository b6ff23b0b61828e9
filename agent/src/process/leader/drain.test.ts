import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createDrain, drainMs } from "./drain.ts";

function setUp() {
  const clock = createFakeClock();
  const stop = new AbortController();
  const lost = new AbortController();
  const drain = createDrain({ stop: stop.signal, lost: lost.signal }, clock);
  return { clock, stop, lost, drain };
}

describe("work in progress", () => {
  test("goes on for 5 s when the process is asked to end", async () => {
    const { clock, stop, drain } = setUp();

    stop.abort();

    await clock.advance(drainMs - 1);
    assert.equal(drain.signal.aborted, false);
    await clock.advance(1);
    assert.equal(drain.signal.aborted, true);
  });

  test("ends at once when the leadership is lost, also after the process was asked to end", () => {
    for (const isStopped of [false, true]) {
      const { stop, lost, drain } = setUp();
      if (isStopped) stop.abort();

      lost.abort();

      assert.equal(drain.signal.aborted, true);
    }
  });

  test("leaves no timer once it has ended", () => {
    const { clock, stop, drain } = setUp();
    stop.abort();

    drain.cancel();

    assert.deepEqual(clock.waiting(), []);
  });
});
