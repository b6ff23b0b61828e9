import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { pollRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names.ts";
import { test } from "vitest";
import { aHelmOp } from "../testing/objects.ts";
import {
  type HandledRequests,
  handledOf,
  handledWith,
  openRequests,
  type Requests,
} from "./requests.ts";

const polled: HelmOp["spec"] = { pollingInterval: "5m" };
const asked = { [reconcileRequestAnnotation]: "one" };
const pushed = { [pollRequestAnnotation]: "push" };

const cases: readonly (readonly [
  what: string,
  spec: HelmOp["spec"],
  annotations: Readonly<Record<string, string>>,
  handled: HandledRequests,
  open: Requests,
])[] = [
  ["nothing asked", {}, {}, {}, {}],
  ["asked for the first time", {}, asked, {}, { reconcile: "one" }],
  ["asked with another value", {}, asked, { reconcile: "zero" }, { reconcile: "one" }],
  ["handled", {}, asked, { reconcile: "one" }, {}],
  ["asked with nothing", {}, { [reconcileRequestAnnotation]: "" }, { reconcile: "one" }, {}],
  ["the annotation taken away", {}, {}, { reconcile: "one" }, {}],
  ["asked while suspended", { suspend: true }, asked, {}, {}],
  ["pushed", polled, pushed, {}, { poll: "push" }],
  ["pushed and handled", polled, pushed, { poll: "push" }, {}],
  ["pushed where nothing is polled", {}, pushed, {}, {}],
  ["pushed while suspended", { ...polled, suspend: true }, pushed, {}, {}],
  ["both", polled, { ...asked, ...pushed }, {}, { reconcile: "one", poll: "push" }],
];
for (const [what, spec, annotations, handled, open] of cases) {
  test(`${what}: ${JSON.stringify(open)} is open`, () => {
    assert.deepEqual(openRequests(aHelmOp(spec, { annotations }), handled), open);
  });
}

test("what was handled is found in the status after a restart", () => {
  const handled = { reconcile: "one", poll: "push" };
  const status = { lastHandledReconcileAt: "one", lastHandledPollRequest: "push" };
  assert.deepEqual(handledOf(aHelmOp({}, {}, status)), handled);
  assert.deepEqual(handledOf(aHelmOp()), {});
});

test("what was handled before stays told", () => {
  assert.deepEqual(handledWith({ reconcile: "one" }, { poll: "push" }), {
    reconcile: "one",
    poll: "push",
  });
});
