import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api";
import { pollRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { aRelease } from "../../testing/index.ts";
import {
  createRequestTimes,
  type HandledRequests,
  handledOf,
  openRequests,
  type Requests,
} from "./requests.ts";

const polled: HelmOp["spec"] = { pollingInterval: "5m" };
const requested = { [reconcileRequestAnnotation]: "one" };
const pushed = { [pollRequestAnnotation]: "push" };

const cases: readonly (readonly [
  what: string,
  spec: HelmOp["spec"],
  annotations: Readonly<Record<string, string>>,
  handled: HandledRequests,
  open: Requests,
])[] = [
  ["no request", {}, {}, {}, {}],
  ["the first request", {}, requested, {}, { reconcile: "one" }],
  ["a request with another value", {}, requested, { reconcile: "zero" }, { reconcile: "one" }],
  ["handled", {}, requested, { reconcile: "one" }, {}],
  ["an empty request", {}, { [reconcileRequestAnnotation]: "" }, { reconcile: "one" }, {}],
  ["a removed annotation", {}, {}, { reconcile: "one" }, {}],
  ["a request while suspended", { suspend: true }, requested, {}, {}],
  ["pushed", polled, pushed, {}, { poll: "push" }],
  ["pushed and handled", polled, pushed, { poll: "push" }, {}],
  ["a push without polling", {}, pushed, {}, {}],
  ["pushed while suspended", { ...polled, suspend: true }, pushed, {}, {}],
  ["both", polled, { ...requested, ...pushed }, {}, { reconcile: "one", poll: "push" }],
];
for (const [what, spec, annotations, handled, open] of cases) {
  test(`${what}: ${JSON.stringify(open)} is open`, () => {
    assert.deepEqual(openRequests(aRelease(spec, { annotations }), handled), open);
  });
}

test("reads the handled requests from the status", () => {
  const handled = { reconcile: "one", poll: "push" };
  const status = { lastHandledReconcileAt: "one", lastHandledPollRequest: "push" };
  assert.deepEqual(handledOf(status), handled);
  assert.deepEqual(handledOf(undefined), {});
});

test("a value that is seen again within seconds is the same request, later it is another one", async () => {
  const clock = createFakeClock();
  const requestedAt = createRequestTimes(clock);
  const first = requestedAt("one");
  await clock.advance(10_000);
  assert.equal(requestedAt("one"), first);
  await clock.advance(1);
  assert.equal(requestedAt("one"), first + 10_001);
  assert.equal(requestedAt("other"), first + 10_001);
});
