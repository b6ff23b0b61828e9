import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors, RepositoryError } from "@flotilla/shared/source";
import { test } from "vitest";
import { aRelease } from "../../testing/index.ts";
import { type LastAttempt, nextAttemptMs, retryAfter } from "./attempt.ts";
import { slotAfter, slotOffset } from "./poll-slots.ts";

const retryable = new AppError(chartErrors.INDEX_FETCH, "connection refused");
const terminal = new AppError(chartErrors.CHART_SOURCE_INVALID, "no address");
const nowMs = Date.UTC(2026, 0, 1);
const once = aRelease();
const following = aRelease({ pollingInterval: "5m" });
const nextSlotMs =
  slotAfter(slotOffset("https://charts.example.com", "hub"), 5 * 60_000, nowMs) - nowMs;
const good: LastAttempt = {
  lastPollTime: new Date(nowMs).toISOString(),
  failures: 0,
  failure: undefined,
  isRequested: false,
};
const failed = (error: AppError, isPinned: boolean, failures = 1): LastAttempt => ({
  ...good,
  failures,
  failure: { error, isPinned },
});

const busyError = new RepositoryError(chartErrors.INDEX_FETCH, "429", { retryAfterMs: 90_000 });
const rateLimited = new RepositoryError(chartErrors.INDEX_FETCH, "429", {
  retryAfterMs: 50 * 60_000,
});

test("respects a Retry-After of a repository for at most an hour", () => {
  const answer = (retryAfterMs?: number) => ({
    error: new RepositoryError(chartErrors.INDEX_FETCH, "429", { retryAfterMs }),
    isPinned: true,
  });

  assert.equal(retryAfter(answer(90_000), nowMs), nowMs + 90_000);
  assert.equal(retryAfter(answer(1e12), nowMs), nowMs + 60 * 60_000);
  assert.equal(retryAfter(answer(), nowMs), undefined);
  assert.equal(retryAfter({ error: retryable, isPinned: true }, nowMs), undefined);
});

const delays = [
  ["that succeeded, without polling", once, good, undefined],
  ["that succeeded, with polling", following, good, nextSlotMs],
  ["that resolved no chart", once, failed(retryable, false), 1_000],
  ["that failed the third time to resolve a chart", once, failed(retryable, false, 3), 4_000],
  [
    "that failed the hundredth time to resolve a chart",
    once,
    failed(retryable, false, 100),
    300_000,
  ],
  ["that cannot recover by itself", following, failed(terminal, false), undefined],
  [
    "that resolved no chart, with a Retry-After of the repository",
    once,
    failed(busyError, false),
    90_000,
  ],
  [
    "a poll that failed, with a Retry-After of the repository",
    following,
    failed(rateLimited, true),
    slotAfter(slotOffset("https://charts.example.com", "hub"), 5 * 60_000, nowMs + 50 * 60_000) -
      nowMs,
  ],
  ["a poll that failed", following, failed(retryable, true), nextSlotMs],
  [
    "that was requested and that failed",
    once,
    { ...failed(retryable, true), isRequested: true },
    1_000,
  ],
  [
    "that was requested, with polling",
    following,
    { ...failed(retryable, true), isRequested: true },
    1_000,
  ],
  [
    "that was requested and that cannot recover by itself",
    once,
    { ...failed(terminal, true), isRequested: true },
    undefined,
  ],
] as const;
for (const [what, release, last, expected] of delays) {
  test(`after an attempt ${what}: ${expected ?? "no other"}`, () => {
    assert.equal(nextAttemptMs(release, last, { nowMs, hub: "hub" }), expected);
  });
}
