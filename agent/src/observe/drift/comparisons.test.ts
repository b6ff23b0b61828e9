import assert from "node:assert/strict";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createComparisons } from "./comparisons.ts";

function start() {
  const clock = createFakeClock();
  const begun: string[] = [];
  const failures: string[] = [];
  /** By comparison, in their order. */
  const results: PromiseWithResolvers<void>[] = [];
  const comparisons = createComparisons({
    compare(key) {
      begun.push(key);
      const result = Promise.withResolvers<void>();
      results.push(result);
      return result.promise;
    },
    onFailure: (key) => void failures.push(key),
    isResult: (thrown) => thrown instanceof Error && thrown.message === "denied",
    permits: createSemaphore(2),
    clock,
  });
  /** Ends the oldest comparison in progress. */
  async function settle(error?: Error): Promise<void> {
    const result = results.shift();
    if (error === undefined) result?.resolve();
    else result?.reject(error);
    await flush();
  }
  return { clock, begun, failures, comparisons, settle };
}

async function flush(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
}

describe("an object", () => {
  test("is compared at once, and again after a change meanwhile, but not at once", async () => {
    const { clock, begun, comparisons, settle } = start();

    comparisons.request("web");
    await flush();
    assert.deepEqual(begun, ["web"]);
    comparisons.request("web");
    comparisons.request("web");
    await settle();
    assert.deepEqual(begun, ["web"]);
    await clock.advance(500);
    await flush();
    assert.deepEqual(begun, ["web", "web"]);
    await settle();
    await clock.advance(3_600_000);
    await flush();
    assert.deepEqual(begun, ["web", "web"]);
  });

  test("that cannot be compared is tried again later, or when it changes", async () => {
    const { clock, begun, failures, comparisons, settle } = start();

    comparisons.request("web");
    await flush();
    await settle(new Error("forbidden"));
    assert.deepEqual(failures, ["web"]);
    await clock.advance(4_999);
    await flush();
    assert.equal(begun.length, 1);
    comparisons.request("web");
    await flush();
    assert.equal(begun.length, 2);
    await settle(new Error("forbidden"));
    await clock.advance(10_000);
    await flush();
    assert.equal(begun.length, 3);
  });
});

test("as many objects are compared at a time as there are permits", async () => {
  const { begun, comparisons, settle } = start();

  for (const key of ["a", "b", "c"]) comparisons.request(key);
  await flush();
  assert.deepEqual(begun, ["a", "b"]);
  await settle();
  assert.deepEqual(begun, ["a", "b", "c"]);
});

test("nothing is compared after the end", async () => {
  const { clock, begun, comparisons, settle } = start();

  comparisons.request("a");
  await flush();
  const ended = comparisons.end();
  await settle(new Error("aborted"));
  await ended;
  comparisons.request("a");
  await clock.advance(60_000);
  await flush();
  assert.deepEqual(begun, ["a"]);
});

describe("a comparison on request", () => {
  async function refreshed(comparisons: ReturnType<typeof start>["comparisons"]) {
    const state = { isDone: false };
    void comparisons.refresh("a").then(() => {
      state.isDone = true;
    });
    await flush();
    return state;
  }

  test("is one that begins after it, not the one in progress", async () => {
    const { clock, begun, comparisons, settle } = start();
    comparisons.request("a");
    await flush();

    const state = await refreshed(comparisons);
    await settle();
    assert.equal(state.isDone, false);
    await clock.advance(500);
    await flush();
    assert.deepEqual(begun, ["a", "a"]);
    await settle();

    assert.equal(state.isDone, true);
  });

  test("ends also where the answer is that the object cannot be compared", async () => {
    const { comparisons, settle } = start();

    const state = await refreshed(comparisons);
    await settle(new Error("denied"));

    assert.equal(state.isDone, true);
  });

  test("waits for an API server that does not answer", async () => {
    const { clock, comparisons, settle } = start();

    const state = await refreshed(comparisons);
    await settle(new Error("unavailable"));
    assert.equal(state.isDone, false);
    await clock.advance(5_000);
    await flush();
    await settle();

    assert.equal(state.isDone, true);
  });

  test("ends with all comparisons, in progress or not", async () => {
    const { comparisons, settle } = start();
    const state = await refreshed(comparisons);

    const ended = comparisons.end();
    await settle(new Error("aborted"));
    await ended;
    await flush();

    assert.equal(state.isDone, true);
    await comparisons.refresh("a");
  });
});
