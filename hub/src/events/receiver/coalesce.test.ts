import assert from "node:assert/strict";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createCoalescer } from "./coalesce.ts";

function fixture() {
  const clock = createFakeClock(0);
  const runs: [key: string, at: number][] = [];
  let failure: Error | undefined;
  const request = createCoalescer({
    clock,
    intervalMs: 1_000,
    run(key) {
      runs.push([key, clock.monotonic()]);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
  });
  return {
    clock,
    runs,
    request,
    fail(error?: Error) {
      failure = error;
    },
  };
}

test("the first call runs at once, and many following calls run once after the interval", async () => {
  const { clock, runs, request } = fixture();
  await request("a");
  const flood = Promise.all(Array.from({ length: 100 }, () => request("a")));
  await clock.advance(999);
  assert.deepEqual(runs, [["a", 0]]);
  await clock.advance(1);
  await flood;
  assert.deepEqual(runs, [
    ["a", 0],
    ["a", 1_000],
  ]);
});

test("after an idle interval the next call runs at once", async () => {
  const { clock, runs, request } = fixture();
  await request("a");
  await clock.advance(1_000);
  await request("a");
  assert.equal(runs.length, 2);
});

test("keys do not delay each other", async () => {
  const { runs, request } = fixture();
  await Promise.all([request("a"), request("b")]);
  assert.deepEqual(runs, [
    ["a", 0],
    ["b", 0],
  ]);
});

test("a failure rejects the requests of that run, and the next run happens", async () => {
  const { clock, runs, request, fail } = fixture();
  fail(new Error("no"));
  await assert.rejects(request("a"), /no/);
  fail();
  const second = request("a");
  await clock.advance(1_000);
  await second;
  await settle();
  assert.equal(runs.length, 2);
});
