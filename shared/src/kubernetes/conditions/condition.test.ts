import assert from "node:assert/strict";
import { test } from "vitest";
import type { Condition } from "../../api/fleet/index.ts";
import { findCondition, maxMessageLength, setCondition, setConditions } from "./condition.ts";

const then = "2026-03-01T10:00:00Z";
const now = "2026-03-01T10:05:00Z";

const ready: Condition = {
  type: "Ready",
  status: "False",
  reason: "NotReady",
  message: "web is not ready",
  observedGeneration: 3,
  lastTransitionTime: then,
  lastUpdateTime: then,
};

test("a new condition gets both its times", () => {
  assert.deepEqual(setCondition(undefined, { type: "Ready", status: "True" }, now), [
    {
      type: "Ready",
      status: "True",
      reason: "",
      message: "",
      lastTransitionTime: now,
      lastUpdateTime: now,
    },
  ]);
});

test("another message keeps the transition time", () => {
  const after = setCondition([ready], { ...ready, message: "api is not ready" }, now);

  assert.deepEqual(after, [{ ...ready, message: "api is not ready", lastUpdateTime: now }]);
});

test("another status changes the transition time", () => {
  const [after] = setCondition(
    [ready],
    { type: "Ready", status: "True", observedGeneration: 3 },
    now,
  );

  assert.equal(after?.lastTransitionTime, now);
});

test("a later generation alone is a change", () => {
  const [after] = setCondition([ready], { ...ready, observedGeneration: 4 }, now);

  assert.deepEqual(after, { ...ready, observedGeneration: 4, lastUpdateTime: now });
});

test("the same list is returned when nothing changed", () => {
  const before = [ready];

  assert.equal(setCondition(before, ready, now), before);
  assert.equal(setConditions(before, [ready, ready], now), before);
});

test("an absent reason and message are the same as empty ones", () => {
  const before: readonly Condition[] = [{ type: "Ready", status: "True" }];

  assert.equal(
    setCondition(before, { type: "Ready", status: "True", reason: "", message: "" }, now),
    before,
  );
});

test("conditions are ordered by type, in any order of setting", () => {
  const types = ["Ready", "Accepted", "Polled"];

  const lists = [types, types.toReversed()].map((order) =>
    setConditions(
      [],
      order.map((type) => ({ type, status: "True" })),
      now,
    ).map(({ type }) => type),
  );

  assert.deepEqual(lists, [
    ["Accepted", "Polled", "Ready"],
    ["Accepted", "Polled", "Ready"],
  ]);
});

test("conditions of other types stay unchanged", () => {
  const after = setCondition([ready], { type: "Accepted", status: "True" }, now);

  assert.equal(findCondition(after, "Ready"), ready);
});

test("a message that is too long is truncated, and has its original length", () => {
  const [after] = setCondition(
    [],
    { type: "Ready", status: "False", message: "x".repeat(10_000) },
    now,
  );

  assert.equal(after?.message?.length, maxMessageLength);
  assert.match(after.message, /x… \(10000 characters in all\)$/);
});

test("a truncated message that is set again is not a change", () => {
  const desired = { type: "Ready", status: "False", message: "x".repeat(10_000) } as const;
  const before = setCondition([], desired, then);

  assert.equal(setCondition(before, desired, now), before);
});

test("a message is never truncated within a character", () => {
  const [after] = setCondition(
    [],
    { type: "Ready", status: "False", message: "🚢".repeat(5_000) },
    now,
  );

  assert.ok(after?.message?.isWellFormed());
});

test("an absent list has no conditions", () => {
  assert.equal(findCondition(undefined, "Ready"), undefined);
});
