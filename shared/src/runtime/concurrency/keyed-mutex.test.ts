import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { settle } from "../time/testing/index.ts";
import { createKeyedMutex } from "./keyed-mutex.ts";

describe("a keyed mutex", () => {
  it("runs work on one key in order, and work on different keys in parallel", async () => {
    const mutex = createKeyedMutex();
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const work = (name: string, until: Promise<void> = Promise.resolve()) =>
      async function run() {
        events.push(`${name} starts`);
        await until;
        events.push(`${name} ends`);
        return name;
      };

    const results = [
      mutex.run("a", work("first", gate.promise)),
      mutex.run("a", work("second")),
      mutex.run("b", work("other")),
    ];
    await settle();
    assert.deepEqual(events, ["first starts", "other starts", "other ends"]);
    gate.resolve();

    assert.deepEqual(await Promise.all(results), ["first", "second", "other"]);
    assert.deepEqual(events.slice(3), ["first ends", "second starts", "second ends"]);
  });

  it("continues after failed work, whose error only its caller gets", async () => {
    const mutex = createKeyedMutex();

    const failed = mutex.run("a", () => Promise.reject(new Error("no")));
    const next = mutex.run("a", () => Promise.resolve("yes"));

    await assert.rejects(failed, /no/);
    assert.equal(await next, "yes");
  });

  it("returns the work that was queued last, until it has ended", async () => {
    const mutex = createKeyedMutex();
    assert.equal(mutex.last("a"), undefined);

    void mutex.run("a", () => Promise.resolve(1));
    void mutex.run("a", () => Promise.resolve(2));
    assert.equal(await mutex.last("a"), 2);
    await mutex.idle();

    assert.equal(mutex.last("a"), undefined);
  });

  it("is idle when all work has ended, including work that was queued meanwhile", async () => {
    const mutex = createKeyedMutex();
    let isIdle = false;
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    void mutex.run("a", () => first.promise);
    const idle = mutex.idle().then(() => {
      isIdle = true;
    });

    void mutex.run("b", () => second.promise);
    first.resolve();
    await settle();
    assert.equal(isIdle, false);
    second.resolve();

    await idle;
  });
});
