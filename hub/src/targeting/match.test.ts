import assert from "node:assert/strict";
import { test } from "vitest";
import { type TargetCluster, type TargetCriteria, type TargetGroup, targetFor } from "./match.ts";

// A CRD of Fleet accepts any operator.
const unknownOperator = "Like" as "In";

const cluster: TargetCluster = {
  name: "paris",
  labels: { env: "prod", region: "eu", "management.cattle.io/cluster-display-name": "Paris 1" },
};
const groups: readonly TargetGroup[] = [
  { name: "prod", labels: { tier: "gold" }, selector: { matchLabels: { env: "prod" } } },
  { name: "asia", labels: { tier: "gold" }, selector: { matchLabels: { region: "asia" } } },
  { name: "europe", labels: { tier: "silver" }, selector: { matchLabels: { region: "eu" } } },
  { name: "empty", labels: {}, selector: undefined },
];

const cases: readonly (readonly [what: string, target: TargetCriteria, matches: boolean])[] = [
  ["its name", { clusterName: "paris" }, true],
  ["its display name in Rancher", { clusterName: "Paris 1" }, true],
  ["another name", { clusterName: "rome" }, false],
  ["an empty selector", { clusterSelector: {} }, true],
  ["no criteria", {}, false],
  [
    "empty names and null selectors",
    { clusterName: "", clusterSelector: null, clusterGroup: "" },
    false,
  ],
  ["a label", { clusterSelector: { matchLabels: { env: "prod" } } }, true],
  ["one label of two", { clusterSelector: { matchLabels: { env: "prod", region: "us" } } }, false],
  [
    "In",
    {
      clusterSelector: {
        matchExpressions: [{ key: "region", operator: "In", values: ["us", "eu"] }],
      },
    },
    true,
  ],
  [
    "NotIn",
    {
      clusterSelector: { matchExpressions: [{ key: "region", operator: "NotIn", values: ["eu"] }] },
    },
    false,
  ],
  [
    "NotIn on a label that it lacks",
    { clusterSelector: { matchExpressions: [{ key: "x", operator: "NotIn", values: ["eu"] }] } },
    true,
  ],
  [
    "Exists",
    { clusterSelector: { matchExpressions: [{ key: "region", operator: "Exists" }] } },
    true,
  ],
  [
    "DoesNotExist",
    { clusterSelector: { matchExpressions: [{ key: "region", operator: "DoesNotExist" }] } },
    false,
  ],
  [
    "an unknown operator",
    { clusterSelector: { matchExpressions: [{ key: "region", operator: unknownOperator }] } },
    false,
  ],
  ["a group that it is in", { clusterGroup: "prod" }, true],
  ["a group that it is not in", { clusterGroup: "asia" }, false],
  ["a group without a selector", { clusterGroup: "empty" }, false],
  ["a group selector", { clusterGroupSelector: { matchLabels: { tier: "silver" } } }, true],
  [
    "a group and a group selector that match different groups only",
    { clusterGroup: "prod", clusterGroupSelector: { matchLabels: { tier: "silver" } } },
    false,
  ],
  [
    "a name and a selector, one of which does not match",
    { clusterName: "paris", clusterSelector: { matchLabels: { env: "dev" } } },
    false,
  ],
];

for (const [what, target, matches] of cases) {
  test(`a target with ${what} ${matches ? "matches" : "does not match"} the cluster`, () => {
    assert.equal(targetFor(cluster, [target], groups) === target, matches);
  });
}

test("the first target that matches is used", () => {
  const first = { clusterSelector: {}, note: 1 };

  assert.equal(
    targetFor(
      cluster,
      [{ clusterName: "rome", note: 0 }, first, { clusterName: "paris", note: 2 }],
      groups,
    ),
    first,
  );
});

test("a cluster whose first matching target has doNotDeploy gets nothing from later targets", () => {
  assert.equal(
    targetFor(
      cluster,
      [{ clusterGroup: "prod", doNotDeploy: true }, { clusterSelector: {} }],
      groups,
    ),
    undefined,
  );
});
