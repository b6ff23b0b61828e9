import assert from "node:assert/strict";
import type { ChartPin, ResolutionStatus } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aRelease, digestB, httpPin } from "../../testing/index.ts";
import {
  type AttemptInputs,
  type AttemptPlan,
  planAttempt,
  stateAfter,
  withoutAttempt,
} from "./attempt.ts";
import { slotAfter, slotOffset, slotUpTo } from "./poll-slots.ts";
import type { Sharing } from "./resolve-charts.ts";

const own = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const foreign = { ...own, repo: "https://other.example.com" };
const pins: readonly ChartPin[] = [own, foreign].map((chart) => ({
  ...chart,
  pin: httpPin("1.2.3"),
}));
const intervalMs = 5 * 60_000;
const slotMs = slotAfter(slotOffset(own.repo, "hub"), intervalMs, Date.UTC(2026, 0, 1));
const lastPollTime = new Date(slotMs - intervalMs).toISOString();
const timeOf = (ms: number) => new Date(ms).toISOString();
const moment = { nowMs: slotMs, hub: "hub" };
/** The attempt of this generation, with these fields. */
const attempt = (changes: ResolutionStatus = {}): ResolutionStatus => ({
  observedGeneration: 1,
  ...changes,
});
const retry = attempt({
  failures: 4,
  error: "connection refused",
  nextAttemptTime: timeOf(slotMs),
});

const kept: AttemptInputs = {
  release: aRelease(),
  state: { pins, attempt: attempt() },
  open: {},
  credentialsVersion: "",
  isFetchFailing: false,
  moment,
  monotonicMs: 1_000_000,
  requestedAtMs: (value) => ({ ask: 900_030, push: 900_070 })[value] ?? 0,
};
const polled: AttemptInputs = {
  ...kept,
  release: aRelease({ pollingInterval: "5m" }),
  state: { pins, lastPollTime, attempt: attempt({ nextAttemptTime: timeOf(slotMs) }) },
};
const early = { ...moment, nowMs: slotMs - 1 };

type Flags = Partial<Record<"poll" | "follow" | "checkPins", true>>;
const cases: readonly (readonly [
  what: string,
  inputs: AttemptInputs,
  flags: Flags | "none",
  sharing?: Sharing,
])[] = [
  ["pins for all charts and no polling", kept, "none"],
  ["a time before the next attempt", { ...polled, moment: early }, "none"],
  [
    "a first poll, which shares no responses",
    { ...polled, state: { pins, attempt: attempt() } },
    { poll: true },
    {},
  ],
  ["a poll at its slot, which shares responses", polled, { poll: true }, { since: 999_500 }],
  [
    "a poll after its slot, which shares responses since the slot",
    { ...polled, moment: { ...moment, nowMs: slotMs + 250 } },
    { poll: true },
    { since: 999_250 },
  ],
  [
    "a poll of a chart without a pin, which shares no responses",
    { ...polled, state: { ...polled.state, pins: [] }, moment: { ...moment, nowMs: slotMs + 250 } },
    { poll: true },
    {},
  ],
  ["new credentials after success", { ...polled, credentialsVersion: "2", moment: early }, "none"],
  [
    "new credentials after a failure",
    {
      ...polled,
      credentialsVersion: "2",
      moment: early,
      state: { ...polled.state, attempt: { ...retry, credentialsVersion: "1" } },
    },
    { poll: true },
  ],
  [
    "the same credentials after a failure",
    {
      ...polled,
      credentialsVersion: "1",
      moment: early,
      state: { ...polled.state, attempt: { ...retry, credentialsVersion: "1" } },
    },
    "none",
  ],
  [
    "a request",
    { ...kept, open: { reconcile: "ask" } },
    { poll: true, follow: true },
    { since: 900_030, trigger: "ask" },
  ],
  [
    "a push",
    { ...polled, open: { poll: "push" } },
    { poll: true },
    { since: 900_070, trigger: "push" },
  ],
  [
    "a request and a push",
    { ...polled, open: { reconcile: "ask", poll: "push" } },
    { poll: true, follow: true },
    { since: 900_070, trigger: "ask push" },
  ],
  [
    "a failed request when it is due",
    { ...kept, state: { pins, attempt: { ...retry, requestFailed: true } } },
    { poll: true, follow: true },
    { since: 999_000 },
  ],
  [
    "a failed request before it is due",
    { ...kept, moment: early, state: { pins, attempt: { ...retry, requestFailed: true } } },
    "none",
  ],
  [
    "a failed request of a suspended HelmOp",
    {
      ...kept,
      release: aRelease({ suspend: true }),
      state: { pins, attempt: { ...retry, requestFailed: true } },
    },
    "none",
  ],
  [
    "a first resolution that is retried",
    { ...kept, state: { pins: [], attempt: retry } },
    {},
    { since: 999_000 },
  ],
  [
    "a first resolution before its retry",
    { ...kept, moment: early, state: { pins: [], attempt: retry } },
    "none",
  ],
  [
    "a new generation before the retry of the old one",
    {
      ...kept,
      release: aRelease({}, { generation: 2 }),
      moment: early,
      state: { pins: [], attempt: retry },
    },
    {},
  ],
  [
    "a failure that cannot recover by itself",
    { ...kept, state: { pins: [], attempt: attempt({ failures: 1, error: "no address" }) } },
    "none",
  ],
  [
    "a new generation with pins that is not due",
    { ...polled, release: aRelease({ pollingInterval: "5m" }, { generation: 2 }), moment: early },
    "none",
  ],
  [
    "a schedule far in the future, after a clock was corrected",
    {
      ...kept,
      state: { pins: [], attempt: { ...retry, nextAttemptTime: "2099-01-01T00:00:00Z" } },
    },
    {},
  ],
  ["an agent that cannot fetch a pin", { ...kept, isFetchFailing: true }, { checkPins: true }],
  [
    "an agent that cannot fetch a pin of an earlier spec, before the retry of the new one",
    {
      ...kept,
      moment: early,
      isFetchFailing: true,
      state: { pins: pins.slice(1), attempt: retry },
    },
    "none",
  ],
  [
    "an agent that cannot fetch a pin that was just resolved",
    {
      ...kept,
      isFetchFailing: true,
      state: { pins, attempt: attempt(), pinCheck: { time: timeOf(slotMs), count: 1 } },
    },
    "none",
  ],
];
for (const [what, inputs, flags, sharing] of cases) {
  test(`the attempt with ${what}`, () => {
    const plan = planAttempt(inputs);

    const { poll, follow, checkPins } = plan;
    assert.equal(plan.isDue, flags !== "none");
    const expected = flags === "none" ? {} : flags;
    assert.deepEqual(
      { poll, follow, checkPins },
      { poll: false, follow: false, checkPins: false, ...expected },
    );
    if (sharing !== undefined) assert.deepEqual(plan.sharingOf(own), sharing);
  });
}

describe("a HelmOp with charts of two repositories", () => {
  test("uses shared responses of each repository since that repository's slot", () => {
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

const retryable = new AppError(chartErrors.INDEX_FETCH, "connection refused");

describe("the state after an attempt", () => {
  const plan = (changes: Partial<AttemptPlan> = {}): AttemptPlan => ({
    isDue: true,
    poll: false,
    follow: false,
    checkPins: false,
    sharingOf: () => ({}),
    ...changes,
  });
  const found = pins.slice(0, 1);
  const ended = (failure?: { error: AppError; isPinned: boolean }, pins = found) => ({
    resolution: { pins, ...(failure !== undefined && { failure }) },
    startedAtMs: slotMs,
    moment,
  });

  test("that failed has the error, the number of failures and the time of the next attempt", () => {
    const inputs = { ...kept, credentialsVersion: "7", state: { pins: [], attempt: retry } };

    const { attempt } = stateAfter(
      inputs,
      plan(),
      ended({ error: retryable, isPinned: false }, []),
    );

    assert.deepEqual(attempt, {
      observedGeneration: 1,
      failures: 5,
      code: "INDEX_FETCH",
      error: "connection refused",
      nextAttemptTime: timeOf(slotMs + 16_000),
      credentialsVersion: "7",
    });
  });

  test("of a new generation counts failures from one", () => {
    const release = aRelease({}, { generation: 2 });
    const inputs = { ...kept, release, state: { pins: [], attempt: retry } };

    const { attempt } = stateAfter(
      inputs,
      plan(),
      ended({ error: retryable, isPinned: false }, []),
    );

    assert.deepEqual([attempt.observedGeneration, attempt.failures], [2, 1]);
  });

  test("that succeeded has the pins and no error", () => {
    const state = stateAfter({ ...kept, state: { pins: [], attempt: retry } }, plan(), ended());

    assert.deepEqual(state.attempt, { observedGeneration: 1 });
    assert.deepEqual(state.pins, found);
    assert.equal(state.lastPollTime, undefined);
  });

  test("that was a poll has its time, in whole seconds, and the next slot", () => {
    const state = stateAfter(polled, plan({ poll: true }), ended());

    const next = slotAfter(slotOffset(own.repo, "hub"), intervalMs, slotMs);
    assert.equal(state.lastPollTime, timeOf(slotMs).replace(".000Z", "Z"));
    assert.equal(state.attempt.nextAttemptTime, timeOf(next));
  });

  test("that was requested and failed keeps the request open", () => {
    const failed = ended({ error: retryable, isPinned: true });

    const { attempt } = stateAfter(kept, plan({ poll: true, follow: true }), failed);

    assert.deepEqual([attempt.requestFailed, attempt.failures], [true, 1]);
  });

  test("that only resolved pinned versions again keeps the schedule", () => {
    const failed = ended({ error: retryable, isPinned: true });
    const inputs = { ...polled, isFetchFailing: true };

    const state = stateAfter(inputs, plan({ checkPins: true }), failed);

    assert.deepEqual(state.attempt, polled.state.attempt);
    assert.deepEqual(state.pinCheck, {
      time: timeOf(slotMs),
      count: 1,
      error: "connection refused",
    });
  });

  test("that found other pins ends the checks of the old ones", () => {
    const pinCheck = { time: lastPollTime, count: 3 };
    const inputs = { ...kept, isFetchFailing: true, state: { ...kept.state, pinCheck } };
    const other = found.map((entry) => ({ ...entry, pin: httpPin("1.2.3", digestB) }));

    const state = stateAfter(inputs, plan({ checkPins: true }), ended(undefined, other));

    assert.equal(state.pinCheck, undefined);
  });
});

describe("the state without an attempt", () => {
  test("is unchanged within a generation", () => {
    assert.deepEqual(withoutAttempt({ ...polled, moment: early }), {
      ...polled.state,
      pins: pins.slice(0, 1),
      pinCheck: undefined,
    });
  });

  test("of a new generation has the next slot, no failures, and the result of the last poll", () => {
    const release = aRelease({ pollingInterval: "5m" }, { generation: 2 });
    const state = { ...polled.state, attempt: { ...retry, nextAttemptTime: timeOf(slotMs + 9e5) } };

    assert.deepEqual(withoutAttempt({ ...polled, release, state, moment: early }).attempt, {
      observedGeneration: 2,
      error: "connection refused",
      nextAttemptTime: timeOf(slotMs),
    });
  });

  test("of a new generation without polling has no error of the old spec", () => {
    const release = aRelease({}, { generation: 2 });

    const { attempt } = withoutAttempt({ ...kept, release, state: { pins, attempt: retry } });

    assert.deepEqual(attempt, { observedGeneration: 2 });
  });

  test("has no pin check when all agents can fetch", () => {
    const pinCheck = { time: lastPollTime, count: 3 };
    const state = { ...kept.state, pinCheck };

    assert.equal(withoutAttempt({ ...kept, state }).pinCheck, undefined);
    assert.deepEqual(withoutAttempt({ ...kept, isFetchFailing: true, state }).pinCheck, pinCheck);
  });
});
