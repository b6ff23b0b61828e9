import assert from "node:assert/strict";
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api";
import { test } from "vitest";
import { type ReconcileResult, reconcileResult } from "./reconcile.ts";

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
  kind: ReconcileResult["kind"],
  text: RegExp,
])[] = [
  ["a deleted HelmOp", undefined, "failed", /deleted/],
  ["a HelmOp without a status", aHelmOp(), "waiting", /has not handled the request/],
  [
    "a HelmOp that handled an earlier request",
    aHelmOp({ ...handled, lastHandledReconcileAt: "before" }),
    "waiting",
    /has not handled the request/,
  ],
  ["a HelmOp that is ready", aHelmOp(handled), "ready", /^1\.2\.3 is ready in 2 of 2 clusters$/],
  [
    "a ready HelmOp with a message in its conditions",
    aHelmOp({
      ...handled,
      conditions: [{ type: "Accepted", status: "True", message: "unknown field x" }, ready],
    }),
    "ready",
    /clusters; unknown field x$/,
  ],
  [
    "a HelmOp without clusters and without a version",
    aHelmOp({
      lastHandledReconcileAt: "now",
      readyClusters: 0,
      desiredReadyClusters: 0,
      conditions: [{ ...ready, message: "no cluster matches" }],
    }),
    "ready",
    /^is ready in 0 of 0 clusters; no cluster matches$/,
  ],
  [
    "a source, which has no clusters",
    { ...aHelmOp(), status: { lastHandledReconcileAt: "now", conditions: [ready] } },
    "ready",
    /^is ready$/,
  ],
  [
    "a HelmOp that was ready at an earlier generation",
    aHelmOp({ ...handled, conditions: [{ ...ready, observedGeneration: 1 }] }),
    "waiting",
    /not ready/,
  ],
  [
    "a HelmOp that is not ready",
    aHelmOp({
      ...handled,
      conditions: [{ ...ready, status: "False", message: "WaitApplied(1)" }],
    }),
    "waiting",
    /WaitApplied\(1\)/,
  ],
  [
    "a HelmOp that is stalled and ready",
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
    const result = reconcileResult(helmOp, "now");
    assert.equal(result.kind, kind);
    assert.match(result.message, text);
  });
}
