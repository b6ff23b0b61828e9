import assert from "node:assert/strict";
import type { LabelSelector } from "@flotilla/shared/api";
import { test } from "vitest";
import type { TargetCluster } from "./match.ts";
import { clusterLabels, selectorHints } from "./selector-hints.ts";

function hintsFor(selector: LabelSelector, among: readonly TargetCluster[]): readonly string[] {
  return [...selectorHints(selector, clusterLabels(among))];
}

const clusters = [
  { name: "paris", labels: { env: "prod", region: "eu" } },
  { name: "rome", labels: { env: "stage" } },
];

const rows: readonly (readonly [what: string, LabelSelector, readonly string[]])[] = [
  ["every cluster", {}, []],
  ["a label that a cluster has", { matchLabels: { env: "prod" } }, []],
  [
    "a misspelt value",
    { matchLabels: { env: "prd" } },
    ["no Cluster has env=prd; env is prod, stage"],
  ],
  [
    "a misspelt label",
    { matchLabels: { enf: "prod" } },
    ["no Cluster has the label enf; labels are env, region"],
  ],
  [
    "values of which none exists",
    { matchExpressions: [{ key: "env", operator: "In", values: ["a", "b"] }] },
    ["no Cluster has env in (a, b); env is prod, stage"],
  ],
  [
    "values of which one exists",
    { matchExpressions: [{ key: "env", operator: "In", values: ["a", "prod"] }] },
    [],
  ],
  [
    "a label that has to exist",
    { matchExpressions: [{ key: "tier", operator: "Exists" }] },
    ["no Cluster has the label tier; labels are env, region"],
  ],
  ["what no label can help", { matchExpressions: [{ key: "env", operator: "DoesNotExist" }] }, []],
  ["labels that no cluster has together", { matchLabels: { env: "stage", region: "eu" } }, []],
  [
    "a property of every object",
    { matchLabels: { constructor: "x" } },
    ["no Cluster has the label constructor; labels are env, region"],
  ],
];
for (const [what, selector, hints] of rows)
  test(`a selector with ${what}: ${hints.join() || "no hint"}`, () => {
    assert.deepEqual(hintsFor(selector, clusters), hints);
  });

test("long lists of values are cut, and clusters without labels are said to have none", () => {
  const many = Array.from({ length: 9 }, (_, at) => ({
    name: `c${at}`,
    labels: { env: `e${at}` },
  }));
  const selector = { matchLabels: { env: "x" } };

  assert.deepEqual(hintsFor(selector, many), [
    "no Cluster has env=x; env is e0, e1, e2, e3, e4 and 4 more",
  ]);
  assert.deepEqual(hintsFor(selector, [{ name: "bare", labels: {} }]), [
    "no Cluster has the label env; the Clusters have no labels",
  ]);
  assert.deepEqual(hintsFor(selector, []), []);
});
