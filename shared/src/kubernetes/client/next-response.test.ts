import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createFakeClock } from "../../runtime/time/testing/index.ts";
import { createResponseNotifier } from "./next-response.ts";

const { signal: never } = new AbortController();

function start() {
  const clock = createFakeClock();
  const responses = createResponseNotifier(clock);
  const woken: string[] = [];
  const wait = (caller: string, signal: AbortSignal = never): Promise<void> =>
    responses.wait(signal).then(() => void woken.push(caller));
  return { clock, responses, woken, wait };
}

describe("the next response", () => {
  it("wakes all waiting callers, once", async () => {
    const { responses, woken, wait } = start();
    const waiting = [wait("a"), wait("b")];

    responses.notify();
    await Promise.all(waiting);

    assert.deepEqual(woken, ["a", "b"]);
  });

  it("does not wake callers within 30 s of the last", async () => {
    const { clock, responses, woken, wait } = start();
    const first = wait("first");
    responses.notify();
    await first;
    const second = wait("second");

    clock.advanceNow(29_999);
    responses.notify();
    await Promise.resolve();
    assert.deepEqual(woken, ["first"]);

    clock.advanceNow(1);
    responses.notify();
    await second;
    assert.deepEqual(woken, ["first", "second"]);
  });

  it("wakes a caller at once when earlier responses woke none", async () => {
    const { responses, woken, wait } = start();
    responses.notify();

    const waiting = wait("late");
    responses.notify();
    await waiting;

    assert.deepEqual(woken, ["late"]);
  });

  it("has no effect after the signal has aborted, and the 30 s do not start", async () => {
    const { responses, woken, wait } = start();
    const stop = new AbortController();
    const aborted = wait("aborted", stop.signal);

    stop.abort();
    await aborted;
    await wait("aborted before", stop.signal);
    responses.notify();
    const waiting = wait("waits");
    responses.notify();
    await waiting;

    assert.deepEqual(woken, ["aborted", "aborted before", "waits"]);
  });
});
