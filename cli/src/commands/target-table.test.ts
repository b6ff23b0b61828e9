import assert from "node:assert/strict";
import type { Cluster, RolloutStrategy } from "@flotilla/shared/api";
import { test } from "vitest";
import { targetedClusters, targetTable } from "./target-table.ts";

function aCluster(name: string, labels: Readonly<Record<string, string>> = {}): Cluster {
  return { metadata: { namespace: "fleet-default", name, labels }, spec: {} };
}

const env = (value: string) => ({ clusterSelector: { matchLabels: { env: value } } });
const clusters = [
  aCluster("b", { env: "prod", ring: "1" }),
  aCluster("a", { env: "prod", ring: "1" }),
  aCluster("c", { env: "prod" }),
  aCluster("d", { env: "dev" }),
];
const bundle = { spec: { targets: [{ name: "prod", ...env("prod") }] } };
const strategy: RolloutStrategy = {
  stages: [
    { name: "canary", ...env("canary") },
    { name: "wave", clusterSelector: { matchLabels: { ring: "1" } }, upTo: 1 },
    { name: "ring1", clusterSelector: { matchLabels: { ring: "1" } } },
  ],
};

test("each cluster has its target and its stage with the reason, in the order of the stages", () => {
  const list = targetedClusters({ bundle, strategy, clusters, groups: [] });

  assert.deepEqual(
    list.map(({ cluster, isTarget, stage, stageWhy }) => [cluster, isTarget, stage, stageWhy]),
    [
      ["fleet-default/a", true, "wave", "stage wave matches it: clusterSelector ring=1"],
      [
        "fleet-default/b",
        true,
        "ring1",
        "stage ring1 matches it: clusterSelector ring=1; stage wave takes 1, and not this one",
      ],
      ["fleet-default/c", true, undefined, "no stage matches it"],
      ["fleet-default/d", false, undefined, undefined],
    ],
  );
});

test("what nothing takes is named below the table", () => {
  const text = targetTable(targetedClusters({ bundle, strategy, clusters, groups: [] }), strategy);

  assert.match(text, /^CLUSTER +TARGET +STAGE +WHY$/m);
  assert.match(
    text,
    /^fleet-default\/a +yes +wave +target prod matches it: clusterSelector env=prod; stage wave /m,
  );
  assert.match(text, /^fleet-default\/d +no +no target matches it: /m);
  assert.match(
    text,
    /^clusters in no stage, so that nothing is rolled out there: 1: fleet-default\/c$/m,
  );
  assert.match(text, /^clusters taken by no target: 1: fleet-default\/d$/m);
  assert.match(text, /^stages without a cluster: canary$/m);
});

test("without stages there is no column for them", () => {
  const text = targetTable(
    targetedClusters({ bundle, strategy: undefined, clusters, groups: [] }),
    undefined,
  );

  assert.match(text, /^CLUSTER +TARGET +WHY$/m);
  assert.doesNotMatch(text, /stage/);
});

test("the last stage without criteria takes all that are left", () => {
  const [first] = targetedClusters({
    bundle,
    strategy: { stages: [{ name: "all" }] },
    clusters: clusters.slice(0, 1),
    groups: [],
  });

  assert.equal(first?.stageWhy, "stage all takes all that are left");
});

test("at most ten clusters are named in a sentence", () => {
  const many = Array.from({ length: 12 }, (_, index) => aCluster(`c${index + 10}`));

  const text = targetTable(
    targetedClusters({ bundle, strategy: undefined, clusters: many, groups: [] }),
    undefined,
  );

  assert.match(text, /^clusters taken by no target: 12: fleet-default\/c10, .*\/c19 and 2 more$/m);
});
