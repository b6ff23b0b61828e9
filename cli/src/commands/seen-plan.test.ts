/** What `flotilla approve` shows of a plan before it asks. */
import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import type { FleetPlan } from "@flotilla/shared/plan";
import { test } from "vitest";
import { cliErrors } from "../errors.ts";
import { seenPlan } from "./seen-plan.ts";

const plan: FleetPlan = {
  total: 12,
  groups: [
    {
      result: "changes",
      counts: { create: 0, update: 1, replace: 0, delete: 0 },
      clusters: { count: 12, first: ["ns/a", "ns/b"] },
      diffs: 1,
      remarks: [],
      hooks: 0,
      failures: 0,
      text: "# Deployment shop/web: update\n-  replicas: 1\n+  replicas: 2\n",
    },
  ],
  others: { groups: 0, clusters: 0 },
  unchanged: { count: 0, first: [] },
  unknown: [],
  notAsked: 0,
};

test("the groups of a plan are shown with their clusters and their changes", async () => {
  const seen = await seenPlan(() => Promise.resolve(plan));

  assert.ok(seen.isShown);
  assert.match(seen.text, /^Group 1: changes \(1 to update\) in 12 clusters: ns\/a, ns\/b, …$/m);
  assert.match(seen.text, /^- {2}replicas: 1\n\+ {2}replicas: 2$/m);
});

test("a plan that the hub does not give is not shown, and the text says why", async () => {
  const refused = new AppError(cliErrors.REQUEST_REJECTED, "bob may not get bundlerollouts/plan");

  assert.deepEqual(await seenPlan(() => Promise.reject(refused)), {
    text: "the changes cannot be shown: bob may not get bundlerollouts/plan\n",
    isShown: false,
  });
});
