import assert from "node:assert/strict";
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api/helm-op.ts";
import { test } from "vitest";
import { type ReconcileOutcome, reconcileOutcome } from "./reconcile-outcome.ts";

function aHelmOp(status?: HelmOpStatus): HelmOp {
  return {
    metadata: { name: "web", namespace: "fleet-default", generation: 2 },
    spec: {},
    ...(status !== undefined && { status }),
  };
}

const ready = { type: "Ready", status: "True", observedGeneration: 2 } as const;
const handled: HelmOpStatus = {
  lastHandledReconcileAt: "now",
  version: "1.2.3",
  readyClusters: 2,
  desiredReadyClusters: 2,
  conditions: [ready],
};

const cases: readonly (readonly [
  what: string,
  helmOp: HelmOp | undefined,
  outcome: ReconcileOutcome["kind"],
  text: RegExp,
])[] = [
  ["one that is gone", undefined, "failed", /deleted/],
  ["one without a status", aHelmOp(), "waiting", /does one run/],
  [
    "one that handled an earlier request",
    aHelmOp({ ...handled, lastHandledReconcileAt: "before" }),
    "waiting",
    /does one run/,
  ],
  ["one that is ready", aHelmOp(handled), "ready", /^1\.2\.3 is ready in 2 of 2 clusters$/],
  [
    "one that has more to say",
    aHelmOp({
      ...handled,
      conditions: [{ type: "Accepted", status: "True", message: "unknown field x" }, ready],
    }),
    "ready",
    /clusters; unknown field x$/,
  ],
  [
    "one that goes nowhere and has no version",
    aHelmOp({
      lastHandledReconcileAt: "now",
      conditions: [{ ...ready, message: "no cluster matches" }],
    }),
    "ready",
    /^it is ready in 0 of 0 clusters; no cluster matches$/,
  ],
  [
    "one that was ready before",
    aHelmOp({ ...handled, conditions: [{ ...ready, observedGeneration: 1 }] }),
    "waiting",
    /not ready/,
  ],
  [
    "one that is on its way",
    aHelmOp({
      ...handled,
      conditions: [{ ...ready, status: "False", message: "WaitApplied(1)" }],
    }),
    "waiting",
    /WaitApplied\(1\)/,
  ],
  [
    "one that is stalled, ready or not",
    aHelmOp({
      ...handled,
      conditions: [ready, { type: "Stalled", status: "True", message: "no chart" }],
    }),
    "failed",
    /^no chart$/,
  ],
];
for (const [what, helmOp, kind, text] of cases) {
  test(`${what}: ${kind}`, () => {
    const outcome = reconcileOutcome(helmOp, "now");
    assert.equal(outcome.kind, kind);
    assert.match(outcome.kind === "ready" ? outcome.text : outcome.why, text);
  });
}
