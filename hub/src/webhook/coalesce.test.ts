import assert from "node:assert/strict";
import { createFakeClock, settle } from "@flotilla/shared/time/testing/fake-clock.ts";
import { test } from "vitest";
import { createCoalescer } from "./coalesce.ts";

function fixture() {
  const clock = createFakeClock(0);
  const runs: [key: string, at: number][] = [];
  let failure: Error | undefined;
  const request = createCoalescer({
    clock,
    restMs: 1_000,
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

test("the first runs at once, and a flood behind it once at the end of the rest", async () => {
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

test("after a rest the next one runs at once again", async () => {
  const { clock, runs, request } = fixture();
  await request("a");
  await clock.advance(1_000);
  await request("a");
  assert.equal(runs.length, 2);
});

test("keys do not wait for each other", async () => {
  const { runs, request } = fixture();
  await Promise.all([request("a"), request("b")]);
  assert.deepEqual(runs, [
    ["a", 0],
    ["b", 0],
  ]);
});

test("a failure reaches those who asked for that run, and the next one is tried", async () => {
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
