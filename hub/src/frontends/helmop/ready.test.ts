import assert from "node:assert/strict";
import type { Condition } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import {
  aBundle,
  accepted,
  aggregated,
  aHelmOp,
  decidedBundle,
  decidedHelmOp,
} from "../../testing/index.ts";
import type { HelmOpInputs } from "./status.ts";
import { conditionOf, decided, failed, ready } from "./testing/index.ts";

describe("Ready of a HelmOp", () => {
  const rejected = decided({ accepted: "no chart" });
  const nothing = aggregated([]);
  const cases: readonly (readonly [
    what: string,
    inputs: Partial<HelmOpInputs>,
    status: Condition["status"],
    reason: string,
    message: RegExp,
  ])[] = [
    [
      "that changed since the last reconcile",
      { helmOp: decidedHelmOp(aHelmOp({}, { generation: 2 }), accepted) },
      "Unknown",
      "Progressing",
      /reading the new spec/,
    ],
    [
      "that is rejected, with nothing deployed",
      { ...rejected, bundle: undefined, ...nothing },
      "False",
      "Error",
      /no chart/,
    ],
    [
      "that is rejected while something is deployed reflects the deployed state",
      rejected,
      "True",
      "Ready",
      /^deployed as accepted before; not accepted: no chart$/,
    ],
    [
      "whose Bundle is not created yet",
      { bundle: undefined, ...nothing },
      "Unknown",
      "Progressing",
      /choosing the clusters/,
    ],
    [
      "whose Bundle has changed since the clusters were selected",
      { bundle: decidedBundle(aBundle({}, { generation: 2 })) },
      "Unknown",
      "Progressing",
      /choosing the clusters/,
    ],
    [
      "that could not be dispatched",
      { bundle: decidedBundle(aBundle(), { error: "too large" }) },
      "False",
      "Error",
      /too large/,
    ],
    [
      "that matches no cluster",
      { bundle: decidedBundle(aBundle(), { targets: 0 }), ...nothing },
      "True",
      "NoTargets",
      /no cluster matches/,
    ],
    [
      "that matches no cluster because a named object does not exist",
      {
        bundle: decidedBundle(aBundle(), { targets: 0, notes: "there is no x" }),
        ...nothing,
      },
      "True",
      "NoTargets",
      /^no cluster matches any of the targets; there is no x$/,
    ],
    [
      "that is ready, with a target that matches nothing",
      { bundle: decidedBundle(aBundle(), { notes: "there is no x" }) },
      "True",
      "Ready",
      /^there is no x$/,
    ],
    [
      "that is removed from its last cluster",
      { bundle: decidedBundle(aBundle(), { targets: 0 }), ...aggregated([failed]) },
      "False",
      "ErrApplied",
      /rome/,
    ],
    ["that waits for clusters", aggregated([ready], 1), "False", "Pending", /^Pending\(1\)$/],
    [
      "that failed somewhere",
      aggregated([ready, failed]),
      "False",
      "ErrApplied",
      /^ErrApplied\(1\) \[Cluster fleet-default\/rome: no chart\]$/,
    ],
  ];
  for (const [what, inputs, status, reason, message] of cases) {
    test(`${what}: ${status} ${reason}`, () => {
      const condition = conditionOf(inputs, "Ready");

      assert.equal(condition?.status, status);
      assert.equal(condition.reason, reason);
      assert.match(condition.message ?? "", message);
    });
  }
});
