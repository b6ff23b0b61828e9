import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createFakeClock } from "../../time/testing/fake-clock.ts";
import { createResponseNotifier } from "./next-response.ts";

const { signal: never } = new AbortController();

function start() {
  const clock = createFakeClock();
  const answers = createResponseNotifier(clock);
  const heard: string[] = [];
  const wait = (who: string, signal: AbortSignal = never): Promise<void> =>
    answers.wait(signal).then(() => void heard.push(who));
  return { clock, answers, heard, wait };
}

describe("the next answer", () => {
  it("is heard by everybody who waits, once", async () => {
    const { answers, heard, wait } = start();
    const waiting = [wait("a"), wait("b")];

    answers.notify();
    await Promise.all(waiting);

    assert.deepEqual(heard, ["a", "b"]);
  });

  it("is no news for 30 s after the last", async () => {
    const { clock, answers, heard, wait } = start();
    const first = wait("first");
    answers.notify();
    await first;
    const second = wait("second");

    clock.advanceNow(29_999);
    answers.notify();
    await Promise.resolve();
    assert.deepEqual(heard, ["first"]);

    clock.advanceNow(1);
    answers.notify();
    await second;
    assert.deepEqual(heard, ["first", "second"]);
  });

  it("is not missed because answers came while nobody waited", async () => {
    const { answers, heard, wait } = start();
    answers.notify();

    const waiting = wait("late");
    answers.notify();
    await waiting;

    assert.deepEqual(heard, ["late"]);
  });

  it("is not waited for once it is not wanted any more", async () => {
    const { answers, wait } = start();
    const stop = new AbortController();
    const waiting = wait("gone", stop.signal);

    stop.abort();
    await waiting;
    await answers.wait(stop.signal);
  });
});
