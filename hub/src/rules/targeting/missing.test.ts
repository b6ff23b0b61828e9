import assert from "node:assert/strict";
import { test } from "vitest";
import type { TargetCriteria, TargetGroup } from "./match.ts";
import { missing } from "./missing.ts";

const paris = { name: "paris", labels: { env: "prod" } };
const groups: readonly TargetGroup[] = [
  { name: "prod", labels: {}, selector: { matchLabels: { env: "prod" } } },
  { name: "trial", labels: {}, selector: { matchLabels: { env: "trial" } } },
  { name: "bare", labels: {}, selector: undefined },
  { name: "broken", labels: {}, selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
];

function hintsFor(
  targets: readonly TargetCriteria[],
  { clusters = [paris], matchesAny = false } = {},
): Promise<readonly string[]> {
  return missing({ namespaces: ["shop"], targeting: { targets }, clusters, groups, matchesAny });
}

const cases: readonly (readonly [
  what: string,
  targets: readonly TargetCriteria[],
  hints: readonly string[],
])[] = [
  [
    "a selector that matches nothing",
    [{ clusterSelector: { matchLabels: { env: "x" } } }],
    ["no Cluster has env=x; env is prod"],
  ],
  ["a group that has members", [{ clusterGroup: "prod" }], []],
  ["no targets", [], ["it has no targets"]],
  [
    "a group that does not exist",
    [{ clusterGroup: "europe" }],
    ["there is no ClusterGroup europe in the namespace shop"],
  ],
  [
    "a group without members",
    [{ clusterGroup: "trial" }],
    ["no cluster belongs to ClusterGroup trial"],
  ],
  [
    "a group without a selector",
    [{ clusterGroup: "bare" }],
    ["ClusterGroup bare has no selector, so no cluster belongs to it"],
  ],
  [
    "a group with an invalid selector",
    [{ clusterGroup: "broken" }],
    [
      "the selector of ClusterGroup broken cannot be used: In for the label a has no values to compare with",
    ],
  ],
  [
    "a cluster that does not exist",
    [{ clusterName: "pairs" }],
    ["there is no Cluster pairs in the namespace shop"],
  ],
  [
    "a target without criteria",
    [{ clusterName: "", clusterSelector: null }],
    ["a target without criteria matches nothing: {clusterSelector: {}} means every cluster"],
  ],
  [
    "the same thing in several targets, once",
    [{ clusterGroup: "europe" }, { clusterGroup: "europe" }],
    ["there is no ClusterGroup europe in the namespace shop"],
  ],
];
for (const [what, targets, hints] of cases) {
  test(`${what}: ${hints.join() || "no hint"}`, async () => {
    assert.deepEqual(await hintsFor(targets), hints);
  });
}

test("a namespace without clusters has that hint before those about missing ones", async () => {
  assert.deepEqual(
    await hintsFor([{ clusterName: "paris" }, { clusterGroup: "prod" }], { clusters: [] }),
    [
      "there are no Clusters in the namespace shop, and Clusters of other namespaces are no targets",
    ],
  );
});

test("an empty group or selector has no hint when other targets match", async () => {
  const targets = [
    { clusterSelector: { matchLabels: { env: "x" } } },
    { clusterGroup: "trial" },
    { clusterGroup: "europe" },
  ];

  assert.deepEqual(await hintsFor(targets, { matchesAny: true }), [
    "there is no ClusterGroup europe in the namespace shop",
  ]);
});

test("restrictions that allow no cluster of the targets have a hint, unless the targets match none", async () => {
  const hintsWith = (target: TargetCriteria) =>
    missing({
      namespaces: ["shop"],
      targeting: { targets: [target], targetRestrictions: [{ clusterName: "rome" }] },
      clusters: [paris],
      groups,
      matchesAny: false,
    });

  assert.deepEqual(await hintsWith({ clusterSelector: {} }), [
    "spec.targetRestrictions allows none of the clusters that the targets match",
  ]);
  assert.deepEqual(await hintsWith({ clusterSelector: { matchLabels: { env: "x" } } }), [
    "no Cluster has env=x; env is prod",
  ]);
});

test("labels are collected once, and a selector is read only until enough is found", async () => {
  let reads = 0;
  const clusters = Array.from({ length: 300 }, (_, at) => ({
    name: `c${at}`,
    get labels() {
      reads += 1;
      return { env: "prod" };
    },
  }));
  const asked = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, "x"]));

  const hints = await hintsFor([{ clusterSelector: { matchLabels: asked } }], { clusters });

  assert.deepEqual(hints, [
    "no Cluster has the label k0; labels are env",
    "no Cluster has the label k1; labels are env",
    "no Cluster has the label k2; labels are env",
  ]);
  assert.equal(reads, clusters.length);
});

test("a long list is truncated", async () => {
  const targets = Array.from({ length: 50 }, (_, at) => ({ clusterGroup: `g${at}` }));

  assert.equal((await hintsFor(targets)).length, 3);
});
