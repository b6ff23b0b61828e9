import assert from "node:assert/strict";
import type { ChartPin } from "@flotilla/shared/api/bundle.ts";
import { describe, test } from "vitest";
import { aHelmOp, httpPin } from "../testing/objects.ts";
import { type AttemptInputs, planAttempt } from "./plan-attempt.ts";
import { slotAfter, slotOffset, slotUpTo } from "./poll-slots.ts";
import type { Sharing } from "./resolve-charts.ts";

const own = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const foreign = { ...own, repo: "https://other.example.com" };
const known: readonly ChartPin[] = [own, foreign].map((chart) => ({
  ...chart,
  pin: httpPin("1.2.3"),
}));
const intervalMs = 5 * 60_000;
const slotMs = slotAfter(slotOffset(own.repo, "hub"), intervalMs, Date.UTC(2026, 0, 1));
const lastAt = new Date(slotMs - intervalMs).toISOString();

const kept: AttemptInputs = {
  helmOp: aHelmOp(),
  known,
  history: { lastAt: undefined, failures: 0 },
  open: {},
  isAskedStill: false,
  hasNewAccess: false,
  moment: { nowMs: slotMs, hub: "hub" },
  monotonicMs: 1_000_000,
  occasionSince: (value) => ({ ask: 900_030, push: 900_070 })[value] ?? 0,
};
const polled: AttemptInputs = {
  ...kept,
  helmOp: aHelmOp({ pollingInterval: "5m" }),
  history: { lastAt, failures: 0 },
};

const cases: readonly (readonly [
  what: string,
  inputs: AttemptInputs,
  poll: boolean,
  follow: boolean,
  sharing: Sharing,
])[] = [
  ["nothing to poll, and nobody asks", kept, false, false, {}],
  ["not due yet", { ...polled, moment: { ...kept.moment, nowMs: slotMs - 1 } }, false, false, {}],
  [
    "the first poll takes no answer of others",
    { ...polled, history: kept.history },
    true,
    false,
    {},
  ],
  ["due to the millisecond", polled, true, false, { since: 999_500 }],
  [
    "due for a moment, takes what others got since it was",
    { ...polled, moment: { ...kept.moment, nowMs: slotMs + 250 } },
    true,
    false,
    { since: 999_250 },
  ],
  [
    "due, with a chart that has no pin, which takes no answer of others",
    { ...polled, known: [], moment: { ...kept.moment, nowMs: slotMs + 250 } },
    true,
    false,
    {},
  ],
  [
    "new credentials for what went well",
    { ...polled, hasNewAccess: true, moment: { ...kept.moment, nowMs: slotMs - 1 } },
    false,
    false,
    {},
  ],
  [
    "new credentials for what failed",
    {
      ...polled,
      hasNewAccess: true,
      history: { lastAt, failures: 1 },
      moment: { ...kept.moment, nowMs: slotMs - 1 },
    },
    true,
    false,
    {},
  ],
  [
    "somebody asks",
    { ...kept, open: { reconcile: "ask" } },
    true,
    true,
    { since: 900_030, trigger: "ask" },
  ],
  [
    "something was pushed",
    { ...polled, open: { poll: "push" } },
    true,
    false,
    { since: 900_070, trigger: "push" },
  ],
  [
    "both",
    { ...polled, open: { reconcile: "ask", poll: "push" } },
    true,
    true,
    { since: 900_070, trigger: "ask push" },
  ],
  [
    "somebody asked, which failed",
    { ...kept, isAskedStill: true, history: { lastAt: undefined, failures: 4 } },
    true,
    true,
    { since: 999_000 },
  ],
  [
    "a first resolution is tried again",
    { ...kept, known: [], history: { lastAt: undefined, failures: 4 } },
    false,
    false,
    { since: 999_000 },
  ],
];
for (const [what, inputs, poll, follow, sharing] of cases) {
  test(`an attempt: ${what}`, () => {
    const plan = planAttempt(inputs);
    assert.deepEqual([plan.poll, plan.follow, plan.sharingOf(own)], [poll, follow, sharing]);
  });
}

describe("a HelmOp with charts of two repositories", () => {
  test("takes of each what others got since that repository's own moment", () => {
    const slots = [own, foreign].map(({ repo }) =>
      slotUpTo(slotOffset(repo, "hub"), intervalMs, slotMs),
    );
    const since = [own, foreign].map((chart) => planAttempt(polled).sharingOf(chart).since);
    assert.deepEqual(
      since,
      slots.map((slot) => 1_000_000 - (slotMs - slot) - 500),
    );
    assert.notEqual(since[0], since[1]);
  });
});
