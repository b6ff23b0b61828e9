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
