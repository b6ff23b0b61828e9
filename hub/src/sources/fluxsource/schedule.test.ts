import assert from "node:assert/strict";
import type { ResolutionStatus } from "@flotilla/shared/api";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { type Attempt, retryDelayMs, scheduleAfter, scheduleOf } from "./schedule.ts";
import { SourceError } from "./source-error.ts";
import type { SourceObject } from "./source-status.ts";

const nowMs = Date.UTC(2026, 0, 1, 12);
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();
const requestedAt = "reconcile.fluxcd.io/requestedAt";

/** Read before, at generation 2, and due in a minute. */
const read: ResolutionStatus = { observedGeneration: 2, nextAttemptTime: at(60) };

function source(
  polling: ResolutionStatus | undefined,
  {
    metadata = {},
    suspend,
    handled,
  }: {
    readonly metadata?: Partial<ObjectMeta>;
    readonly suspend?: boolean;
    readonly handled?: string;
  } = {},
): SourceObject {
  return {
    metadata: { name: "charts", namespace: "apps", generation: 2, ...metadata },
    spec: { ...(suspend !== undefined && { suspend }) },
    status: {
      ...(polling !== undefined && { polling }),
      ...(handled !== undefined && { lastHandledReconcileAt: handled }),
    },
  };
}

function requested(value: string, handled?: string, suspend?: boolean): SourceObject {
  const metadata = { annotations: { [requestedAt]: value } };
  return source(read, {
    metadata,
    ...(handled !== undefined && { handled }),
    ...(suspend !== undefined && { suspend }),
  });
}

describe("a source is", () => {
  const rows: readonly (readonly [
    what: string,
    object: SourceObject,
    expected: ReturnType<typeof scheduleOf>,
    inputs?: string,
  ])[] = [
    ["read when it was never read", source(undefined), { isDue: true }],
    ["not read before its interval is over", source(read), { isDue: false }],
    [
      "read when its interval is over",
      source({ ...read, nextAttemptTime: at(0) }),
      { isDue: true },
    ],
    ["read for another generation", source({ ...read, observedGeneration: 1 }), { isDue: true }],
    [
      "not read again while it is Stalled, however long ago that was",
      source({ observedGeneration: 2, failures: 1, error: "no such reference" }),
      { isDue: false },
    ],
    [
      "read again when it is Stalled and its spec has changed",
      source({ observedGeneration: 1, failures: 1, error: "no such reference" }),
      { isDue: true },
    ],
    ["read when a Secret has changed", source(read), { isDue: true }, "7"],
    [
      "not read when its Secrets are the same",
      source({ ...read, credentialsVersion: "7" }),
      { isDue: false },
      "7",
    ],
    [
      "read when its Secret is removed from the spec",
      source({ ...read, credentialsVersion: "7" }),
      { isDue: true },
    ],
    ["read for a request by annotation", requested("one"), { isDue: true, request: "one" }],
    ["read for another request", requested("two", "one"), { isDue: true, request: "two" }],
    ["not read for a request that was handled", requested("one", "one"), { isDue: false }],
    ["not read for an empty request", requested(""), { isDue: false }],
    [
      "not read while it is suspended, also when it was never read",
      source(undefined, { suspend: true }),
      { isDue: false },
    ],
    [
      "not read for a request while it is suspended, which handles the request",
      requested("one", undefined, true),
      { isDue: false, request: "one" },
    ],
  ];
  for (const [what, object, expected, inputs = ""] of rows)
    test(what, () => assert.deepEqual(scheduleOf(object, { nowMs, inputs }), expected));
});

describe("after an attempt", () => {
  const attempt: Attempt = {
    ...{ nowMs, inputs: "", interval: "10m", hubId: "hub" },
    address: "https://charts.example.com",
  };
  const delayOf = ({ nextAttemptTime = "" }: ResolutionStatus) =>
    Date.parse(nextAttemptTime) - nowMs;

  test("that succeeded, the next one is within the interval, and the failures are forgotten", () => {
    const before = { ...read, failures: 3, error: "connection refused" };
    const next = scheduleAfter(source(before), attempt);

    assert.deepEqual(Object.keys(next).sort(), [
      "lastAttemptTime",
      "nextAttemptTime",
      "observedGeneration",
    ]);
    assert.equal(next.observedGeneration, 2);
    assert.ok(delayOf(next) > 0 && delayOf(next) <= 10 * 60_000, next.nextAttemptTime);
  });

  test("sources of the same address are due at the same time, and those of another hub at another", () => {
    const timeOf = (changes: Partial<Attempt>) =>
      scheduleAfter(source(read), { ...attempt, ...changes }).nextAttemptTime;
    assert.equal(timeOf({}), timeOf({ nowMs: nowMs + 1 }));
    assert.equal(timeOf({}), timeOf({ address: "https://CHARTS.example.com/" }));
    assert.notEqual(timeOf({}), timeOf({ hubId: "other" }));
  });

  test("a source without an interval is read only when something changes", () => {
    assert.deepEqual(scheduleAfter(source(read), { ...attempt, interval: undefined }), {
      observedGeneration: 2,
      lastAttemptTime: at(0),
    });
  });

  const intervals: readonly (readonly [interval: string, longestMs: number])[] = [
    ["1h30m", 90 * 60_000],
    ["1.5s", 2_000],
    ["1ms", 1_000],
    ["0s", 1_000],
    ["soon", 60_000],
  ];
  test.each(intervals)("the interval %s ends within %d ms", (interval, longestMs) => {
    const delay = delayOf(scheduleAfter(source(read), { ...attempt, interval }));
    assert.ok(delay > 0 && delay <= longestMs, String(delay));
  });

  const failure = new SourceError("Failed", "connection refused");
  const delays: readonly (readonly [failures: number, delayMs: number])[] = [
    [0, 750],
    [1, 1_500],
    [4, 12_000],
    [10, 768_000],
    [11, 15 * 60_000],
    [2_000, 15 * 60_000],
  ];
  test.each(delays)("that failed after %d others it is retried in %d ms", (failures, delayMs) => {
    const before = source({ ...read, failures });
    const next = scheduleAfter(before, { ...attempt, error: failure });

    assert.deepEqual(next, {
      observedGeneration: 2,
      lastAttemptTime: at(0),
      failures: failures + 1,
      error: "connection refused",
      nextAttemptTime: new Date(nowMs + delayMs).toISOString(),
    });
    assert.equal(retryDelayMs(failures + 1), delayMs);
  });

  test("it is not retried before the time that the server has named", () => {
    const error = new SourceError("Failed", "too many requests", { retryAfterMs: 120_000 });
    assert.equal(delayOf(scheduleAfter(source(read), { ...attempt, error })), 120_000);
    const soon = new SourceError("Failed", "too many requests", { retryAfterMs: 1 });
    assert.equal(delayOf(scheduleAfter(source(read), { ...attempt, error: soon })), 750);
  });

  test("that has stalled it is not retried", () => {
    const error = new SourceError("URLInvalid", "no address", { stalls: true });
    assert.deepEqual(scheduleAfter(source(read), { ...attempt, inputs: "7", error }), {
      ...{ observedGeneration: 2, lastAttemptTime: at(0), credentialsVersion: "7" },
      ...{ failures: 1, error: "no address" },
    });
  });
});
