import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { SourceError } from "./source-error.ts";
import { timeoutOf } from "./timeout.ts";

/** Ends only when it is aborted. */
function endless(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error("aborted"));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
  });
}

describe("spec.timeout", () => {
  const { signal } = new AbortController();

  test("ends an attempt with a message that names it", async () => {
    await assert.rejects(timeoutOf("10ms", signal, endless), (thrown: unknown) => {
      assert.ok(thrown instanceof SourceError);
      assert.equal(thrown.message, "no complete answer after spec.timeout, 10ms");
      assert.deepEqual([thrown.reason, thrown.stalls], ["Failed", false]);
      return true;
    });
  });

  test("changes neither a result nor an earlier failure", async () => {
    assert.equal(await timeoutOf(undefined, signal, () => Promise.resolve(1)), 1);
    const failure = new Error("connection refused");
    await assert.rejects(
      timeoutOf("1m", signal, () => Promise.reject(failure)),
      failure,
    );
  });

  test("is not what ended an attempt when the controller stops", async () => {
    const stop = new AbortController();
    const ended = timeoutOf("1m", stop.signal, endless);
    stop.abort();
    await assert.rejects(ended, /^Error: aborted$/);
  });
});
