import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type LeaseExpiry, type LeaseObservation, leaseExpiryOf } from "./lease-expiry.ts";

const times = { renewEveryMs: 7_000, expireAfterMs: 25_000 };
const observation: LeaseObservation = {
  now: 100_000,
  observedAt: 95_000,
  ownObservedAt: 98_000,
  watchingSince: 0,
};

describe("a replica", () => {
  const cases: readonly (readonly [string, Partial<LeaseObservation>, LeaseExpiry])[] = [
    ["whose Lease was renewed is alive", {}, { kind: "unknown", waitMs: 20_000 }],
    [
      "whose Lease was not renewed for its duration has expired",
      { observedAt: 75_000 },
      { kind: "expired", forMs: 25_000 },
    ],
    [
      "whose Lease is one millisecond short of its duration has not expired",
      { observedAt: 75_001 },
      { kind: "unknown", waitMs: 1 },
    ],
    [
      "without a Lease has one duration from the start of the watch",
      { observedAt: undefined, watchingSince: 90_000 },
      { kind: "unknown", waitMs: 15_000 },
    ],
    [
      "that never had a Lease has expired after that",
      { observedAt: undefined, watchingSince: 70_000 },
      { kind: "expired", forMs: 30_000 },
    ],
    [
      "has a full duration from when the watch works again",
      { observedAt: 10_000, watchingSince: 99_000 },
      { kind: "unknown", waitMs: 24_000 },
    ],
    [
      "has not expired while the watch does not deliver our own renewals",
      { observedAt: 10_000, ownObservedAt: 85_000 },
      { kind: "unknown", waitMs: 7_000 },
    ],
    [
      "has not expired before the watch delivered our own renewal",
      { observedAt: 10_000, ownObservedAt: undefined, watchingSince: undefined },
      { kind: "unknown", waitMs: 7_000 },
    ],
  ];
  for (const [what, change, expiry] of cases) {
    test(what, () => assert.deepEqual(leaseExpiryOf({ ...observation, ...change }, times), expiry));
  }
});
