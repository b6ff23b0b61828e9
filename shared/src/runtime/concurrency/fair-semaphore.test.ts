import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createFairSemaphore, type FairLimits } from "./fair-semaphore.ts";

function setUp(limits: FairLimits) {
  const semaphore = createFairSemaphore(limits);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    /** `id` starts with the name of its caller. */
    async start(id: string, weight = 1, signal?: AbortSignal) {
      const running = semaphore.run({ caller: id.slice(0, 1), weight, signal }, async () => {
        started.push(id);
        await new Promise<void>((resolve) => ends.set(id, resolve));
      });
      running.catch(() => undefined);
      await settled();
      return running;
    },
    async end(id: string) {
      ends.get(id)?.();
      await settled();
    },
  };
}

/** Resolves when all that can run has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a fair semaphore", () => {
  test("lets one caller have its share, and keeps the rest for others", async () => {
    const { started, start } = setUp({ capacity: 4, share: 2 });

    for (const id of ["a1", "a2", "a3", "b1"]) void start(id);
    await settled();

    assert.deepEqual(started, ["a1", "a2", "b1"]);
  });

  test("serves callers in turn, however much one of them has asked for before", async () => {
    const { started, start, end } = setUp({ capacity: 1, share: 1 });
    for (const id of ["a1", "a2", "a3", "a4", "b1", "c1"]) void start(id);
    await settled();

    for (const id of ["a1", "a2", "b1", "c1"]) await end(id);

    assert.deepEqual(started, ["a1", "a2", "b1", "c1", "a3"]);
  });

  test("counts weights, and lets a large one wait for room without being overtaken", async () => {
    const { started, start, end } = setUp({ capacity: 10, share: 8 });
    for (const [id, weight] of [
      ["a1", 6],
      ["b1", 8],
      ["c1", 1],
    ] as const)
      void start(id, weight);
    await settled();
    assert.deepEqual(started, ["a1"]);

    await end("a1");

    assert.deepEqual(started, ["a1", "b1", "c1"]);
  });

  test("takes a weight above the share for the share", async () => {
    const { started, start, end } = setUp({ capacity: 10, share: 5 });
    for (const id of ["a1", "a2"]) void start(id, 100);
    await settled();
    assert.deepEqual(started, ["a1"]);

    await end("a1");

    assert.deepEqual(started, ["a1", "a2"]);
  });

  test("forgets one that is aborted while it waits", async () => {
    const { started, start, end } = setUp({ capacity: 1, share: 1 });
    const stop = new AbortController();
    void start("a1");
    const waiting = assert.rejects(start("b1", 1, stop.signal), { name: "AbortError" });
    void start("c1");
    await settled();

    stop.abort();
    await waiting;
    await end("a1");

    assert.deepEqual(started, ["a1", "c1"]);
  });

  test("takes at once what is free, for a caller within its share", async () => {
    const semaphore = createFairSemaphore({ capacity: 10, share: 6 });
    const first = semaphore.tryTake({ caller: "a", weight: 4 });
    const second = semaphore.tryTake({ caller: "b", weight: 5 });

    assert.equal(semaphore.tryTake({ caller: "a", weight: 3 }), undefined);
    assert.equal(semaphore.tryTake({ caller: "c", weight: 2 }), undefined);
    first?.();
    assert.notEqual(semaphore.tryTake({ caller: "c", weight: 2 }), undefined);

    let isStarted = false;
    const waiting = semaphore.run({ caller: "d", weight: 6 }, () => {
      isStarted = true;
      return Promise.resolve();
    });
    await settled();
    assert.equal(isStarted, false);
    assert.equal(semaphore.tryTake({ caller: "e" }), undefined, "others wait");
    second?.();
    await waiting;
  });
});
