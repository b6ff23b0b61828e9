import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { chartErrors, RepositoryError } from "@flotilla/shared/source/errors.ts";
import { test } from "vitest";
import { aHelmOp } from "../testing/objects.ts";
import { type LastAttempt, nextAttemptMs, notBeforeMs } from "./next-attempt.ts";
import { slotAfter, slotOffset } from "./poll-slots.ts";

const passing = new AppError(chartErrors.INDEX_FETCH, "refused");
const lasting = new AppError(chartErrors.CHART_SOURCE_INVALID, "no address");
const nowMs = Date.UTC(2026, 0, 1);
const once = aHelmOp();
const polled = aHelmOp({ pollingInterval: "5m" });
const nextSlotMs =
  slotAfter(slotOffset("https://charts.example.com", "hub"), 5 * 60_000, nowMs) - nowMs;
const good: LastAttempt = {
  lastAt: new Date(nowMs).toISOString(),
  failures: 0,
  failure: undefined,
  isAsked: false,
};
const failed = (error: AppError, isPinned: boolean, failures = 1): LastAttempt => ({
  ...good,
  failures,
  failure: { error, isPinned },
});

const busy = { ...failed(passing, true), notBeforeMs: nowMs + 3 * 60 * 60_000 };

test("a repository that asks to be left alone is, for an hour at most", () => {
  const answer = (retryAfterMs?: number) => ({
    error: new RepositoryError(chartErrors.INDEX_FETCH, "429", { retryAfterMs }),
    isPinned: true,
  });

  assert.equal(notBeforeMs(answer(90_000), nowMs), nowMs + 90_000);
  assert.equal(notBeforeMs(answer(1e12), nowMs), nowMs + 60 * 60_000);
  assert.equal(notBeforeMs(answer(), nowMs), undefined);
  assert.equal(notBeforeMs({ error: passing, isPinned: true }, nowMs), undefined);
});

const cases = [
  ["that went well, without polling", once, good, undefined],
  ["that went well, with polling", polled, good, nextSlotMs],
  ["that led to no chart at all", once, failed(passing, false), 1_000],
  ["the third that led to no chart at all", once, failed(passing, false, 3), 4_000],
  ["the hundredth that led to no chart at all", once, failed(passing, false, 100), 300_000],
  ["that cannot get better by itself", polled, failed(lasting, false), undefined],
  [
    "that led to no chart, of a repository that asks to be left alone",
    once,
    { ...failed(passing, false), notBeforeMs: nowMs + 90_000 },
    90_000,
  ],
  [
    "a poll that failed, of a repository that asks to be left alone",
    polled,
    busy,
    slotAfter(slotOffset("https://charts.example.com", "hub"), 5 * 60_000, busy.notBeforeMs) -
      nowMs,
  ],
  ["a poll that failed", polled, failed(passing, true), nextSlotMs],
  [
    "that somebody asked for and that failed",
    once,
    { ...failed(passing, true), isAsked: true },
    1_000,
  ],
  [
    "that somebody asked for, with polling",
    polled,
    { ...failed(passing, true), isAsked: true },
    1_000,
  ],
  [
    "that somebody asked for and that cannot get better by itself",
    once,
    { ...failed(lasting, true), isAsked: true },
    undefined,
  ],
] as const;
for (const [what, helmOp, last, expected] of cases) {
  test(`after an attempt ${what}: ${expected ?? "no other"}`, () => {
    assert.equal(nextAttemptMs(helmOp, last, { nowMs, hub: "hub" }), expected);
  });
}
