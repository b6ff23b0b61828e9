import assert from "node:assert/strict";
import type { FleetPlan, FleetPlanGroup } from "@flotilla/shared/plan";
import { describe, test } from "vitest";
import { planExitCode, planText } from "./plan-text.ts";

const none = { count: 0, first: [] };
const nothing: FleetPlan = {
  total: 2,
  groups: [],
  others: { groups: 0, clusters: 0 },
  unchanged: { count: 2, first: ["ns/ams", "ns/ber"] },
  unknown: [],
  notAsked: 0,
};
const group: FleetPlanGroup = {
  result: "changes",
  counts: { create: 1, update: 2, replace: 0, delete: 0 },
  clusters: { count: 12, first: ["ns/a", "ns/b"] },
  diffs: 1,
  remarks: ["Hooks"],
  hooks: 2,
  failures: 0,
  text: "-old\n+new",
};
const offline: FleetPlan["unknown"][number] = {
  reason: "Offline",
  message: "its agent is offline",
  clusters: { count: 1, first: ["ns/x"] },
};

describe("a plan", () => {
  test("without changes says so, and where", () => {
    assert.equal(
      planText(nothing),
      "no change in 2 clusters: ns/ams, ns/ber\n\n2 clusters: 0 groups of changes in 0 clusters, no change in 2\n",
    );
    assert.equal(planExitCode(nothing), 0);
  });

  test("has each group with its clusters, its remarks and its text", () => {
    const plan = { ...nothing, total: 12, groups: [group], unchanged: none };

    assert.equal(
      planText(plan),
      [
        "Group 1: changes (1 to create, 2 to update) in 12 clusters: ns/a, ns/b, …",
        "  2 hooks: what hooks do is not shown",
        "-old",
        "+new",
        "",
        "12 clusters: 1 group of changes in 12 clusters, no change in 0",
        "",
      ].join("\n"),
    );
    assert.equal(planExitCode(plan), 1);
  });

  test("names what could not be asked, and is not complete then", () => {
    const plan = { ...nothing, total: 3, unknown: [offline] };

    assert.match(planText(plan), /not known for 1 cluster: ns\/x: its agent is offline/);
    assert.equal(planExitCode(plan), 2);
    assert.equal(planExitCode({ ...plan, groups: [group] }), 2);
  });

  test("says what would fail, and how", () => {
    const fails = {
      ...group,
      result: "fails" as const,
      failures: 1,
      code: "PLAN_FAILED",
      message: "spec.selector: field is immutable",
    };

    assert.match(
      planText({ ...nothing, groups: [fails] }),
      /would fail at 1 object .*\n {2}spec\.selector: field is immutable \(PLAN_FAILED\)/,
    );
  });

  test("says which groups are folded or not shown, and which clusters were not asked", () => {
    const text = planText({
      ...nothing,
      groups: [{ ...group, diffs: 60 }],
      others: { groups: 2, clusters: 3 },
      notAsked: 400,
    });

    assert.match(text, /60 different diffs with the same changed paths/);
    assert.match(text, /2 groups of changes not shown in 3 clusters/);
    assert.match(text, /400 clusters not asked/);
  });
});
