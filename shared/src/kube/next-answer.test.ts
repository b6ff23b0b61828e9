import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createFakeClock } from "../clock/testing/fake-clock.ts";
import { createNextAnswer } from "./next-answer.ts";

const { signal: never } = new AbortController();

function start() {
  const clock = createFakeClock();
  const answers = createNextAnswer(clock);
  const heard: string[] = [];
  const wait = (who: string, signal: AbortSignal = never): Promise<void> =>
    answers.wait(signal).then(() => void heard.push(who));
  return { clock, answers, heard, wait };
}

describe("the next answer", () => {
  it("is heard by everybody who waits, once", async () => {
    const { answers, heard, wait } = start();
    const waiting = [wait("a"), wait("b")];

    answers.tell();
    await Promise.all(waiting);

    assert.deepEqual(heard, ["a", "b"]);
  });

  it("is no news for 30 s after the last", async () => {
    const { clock, answers, heard, wait } = start();
    const first = wait("first");
    answers.tell();
    await first;
    const second = wait("second");

    clock.advanceNow(29_999);
    answers.tell();
    await Promise.resolve();
    assert.deepEqual(heard, ["first"]);

    clock.advanceNow(1);
    answers.tell();
    await second;
    assert.deepEqual(heard, ["first", "second"]);
  });

  it("is not missed because answers came while nobody waited", async () => {
    const { answers, heard, wait } = start();
    answers.tell();

    const waiting = wait("late");
    answers.tell();
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
