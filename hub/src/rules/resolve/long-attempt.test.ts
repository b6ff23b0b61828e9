import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { failureText, longAttemptMs, type NextAttempt, watchAttempt } from "./long-attempt.ts";

describe("a failure", () => {
  const startedAtMs = Date.UTC(2026, 0, 1, 0, 0, 7, 900);
  const retryAt = "2026-01-01T00:00:07.500Z";
  const rows: readonly (readonly [what: string, next: NextAttempt, expected: string])[] = [
    ["names the time of the next attempt", { retryAt }, "no; retrying at 2026-01-01T00:00:07Z"],
    [
      "names the start of the attempt that runs in its place",
      { retryAt, startedAtMs },
      "no; trying again since 2026-01-01T00:00:07Z",
    ],
    ["names no time while none is made", {}, "no"],
    [
      "names the start of one that a change has started",
      { startedAtMs },
      "no; trying again since 2026-01-01T00:00:07Z",
    ],
  ];
  test.each(rows)("%s", (_, next, expected) => {
    assert.equal(failureText("no", next), expected);
  });
});

describe("an attempt", () => {
  function start() {
    const clock = createFakeClock();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const long: number[] = [];
    const startedAtMs = clock.now();
    const result = watchAttempt(
      clock,
      () => promise,
      (ms) => long.push(ms),
    );
    return { ...{ clock, long, startedAtMs, resolve, reject }, result };
  }

  test("is long once it has run for a while, which is said once", async () => {
    const { clock, long, startedAtMs, result, resolve } = start();
    await clock.advance(longAttemptMs - 1);
    assert.deepEqual(long, []);
    await clock.advance(10 * longAttemptMs);
    assert.deepEqual(long, [startedAtMs]);

    resolve("1.2.3");
    assert.equal(await result, "1.2.3");
  });

  for (const end of ["resolve", "reject"] as const)
    test(`that ends before leaves no timer (${end})`, async () => {
      const { clock, long, result, ...attempt } = start();
      attempt[end]("done");
      await Promise.allSettled([result]);

      assert.deepEqual(clock.waiting(), []);
      assert.deepEqual(long, []);
    });
});
