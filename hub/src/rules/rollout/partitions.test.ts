import assert from "node:assert/strict";
import { apiVersion, type ClusterGroup } from "@flotilla/shared/api";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import { describe, test } from "vitest";
import { aCluster, workspace } from "../../testing/index.ts";
import { type TargetCluster, toTargetCluster } from "../targeting/match.ts";
import { isStrategy, listedMembers, partitionsOf, type RolloutStrategy } from "./partitions.ts";

/** `name (size, maxUnavailable)`, with equal neighbours counted. */
function describePartitions(strategy: RolloutStrategy, count: number): string {
  const { partitions } = partitionsOf(strategy, count, []);
  const sizes = partitions.map(
    ({ members, maxUnavailable }) => `(${members.length}, ${maxUnavailable})`,
  );
  const runs: { readonly size: string; times: number }[] = [];
  for (const size of sizes) {
    const last = runs.at(-1);
    if (last?.size === size) last.times += 1;
    else runs.push({ size, times: 1 });
  }
  return runs.map(({ size, times }) => (times === 1 ? size : `${times} x ${size}`)).join(" ");
}

describe("automatic partitions", () => {
  const rows: readonly (readonly [count: number, strategy: RolloutStrategy, expected: string])[] = [
    [0, {}, "(0, 1)"],
    [199, {}, "(199, 199)"],
    [200, {}, "4 x (50, 50)"],
    [230, {}, "4 x (57, 57) (2, 2)"],
    [1000, { autoPartitionSize: "49%" }, "2 x (490, 490) (20, 20)"],
    [1000, { autoPartitionSize: "33%" }, "3 x (330, 330) (10, 10)"],
    [200, { autoPartitionSize: 100 }, "2 x (100, 100)"],
    [300, { autoPartitionSize: 500 }, "(300, 300)"],
    [200, { autoPartitionSize: "100%" }, "(200, 200)"],
    [200, { autoPartitionSize: "0%" }, "200 x (1, 1)"],
    [200, { autoPartitionSize: "-5%" }, "200 x (1, 1)"],
    [200, { autoPartitionSize: "0.1%" }, "200 x (1, 1)"],
    [500, { autoPartitionSize: 0 }, "(500, 500)"],
    [500, { autoPartitionSize: -5 }, "(500, 500)"],
    [500, { autoPartitionThreshold: 0 }, "(500, 500)"],
    [50, { autoPartitionThreshold: 50, autoPartitionSize: "50%" }, "2 x (25, 25)"],
    [49, { autoPartitionThreshold: 50, autoPartitionSize: "50%" }, "(49, 49)"],
    [3, { autoPartitionThreshold: 1 }, "3 x (1, 1)"],
    [1000, { autoPartitionSize: "10%", maxUnavailable: "10%" }, "10 x (100, 10)"],
    [1000, { autoPartitionSize: "10%", maxUnavailable: 3 }, "10 x (100, 3)"],
  ];
  for (const [count, strategy, expected] of rows)
    test(`of ${count} clusters with ${JSON.stringify(strategy)} are ${expected}`, () => {
      assert.equal(describePartitions(strategy, count), expected);
    });

  const names = (strategy: RolloutStrategy, count: number) =>
    partitionsOf(strategy, count, []).partitions.map(({ name }) => name);
  test("are named by the positions of their clusters, the one for everything `All`", () => {
    assert.deepEqual(names({}, 0), ["All"]);
    assert.deepEqual(names({}, 199), ["All"]);
    assert.deepEqual(names({ autoPartitionSize: 0 }, 500), ["All"]);
    assert.deepEqual(names({ autoPartitionSize: 500 }, 300), ["Partition 0 - 300"]);
    assert.deepEqual(names({}, 230), [
      "Partition 0 - 57",
      "Partition 57 - 114",
      "Partition 114 - 171",
      "Partition 171 - 228",
      "Partition 228 - 230",
    ]);
  });

  test("have the clusters in order, each once", () => {
    const { partitions, unassigned } = partitionsOf({}, 230, []);
    assert.deepEqual(
      partitions.flatMap(({ members }) => members),
      Array.from({ length: 230 }, (_, index) => index),
    );
    assert.deepEqual(unassigned, []);
  });
});

describe("a listed partition", () => {
  const group = (name: string, labels: Record<string, string>, member: string): ClusterGroup => ({
    apiVersion,
    kind: "ClusterGroup",
    metadata: { name, namespace: workspace, labels },
    spec: { selector: { matchLabels: { [member]: "yes" } } },
  });
  const groups = [group("g1", { a: "1" }, "one"), group("g2", { b: "1" }, "two")];
  const cluster = (name: string, labels: Record<string, string> = {}): TargetCluster =>
    toTargetCluster(aCluster(name, { metadata: { labels } }));
  type Criteria = NonNullable<RolloutStrategy["partitions"]>[number];
  const rows: readonly (readonly [string, TargetCluster, Criteria, boolean])[] = [
    ["by the name of the cluster", cluster("c1"), { clusterName: "c1" }, true],
    [
      "by the name that Rancher shows",
      cluster("c-abc", { "management.cattle.io/cluster-display-name": "c1" }),
      { clusterName: "c1" },
      true,
    ],
    [
      "by a label",
      cluster("c1", { env: "prod" }),
      { clusterSelector: { matchLabels: { env: "prod" } } },
      true,
    ],
    ["by a group", cluster("c1", { one: "yes" }), { clusterGroup: "g1" }, true],
    [
      "by the name of one group and the labels of another: not",
      cluster("c1", { one: "yes", two: "yes" }),
      { clusterGroup: "g1", clusterGroupSelector: { matchLabels: { b: "1" } } },
      false,
    ],
    ["by a group that it is not in: not", cluster("c1"), { clusterGroup: "g1" }, false],
    ["without criteria: not", cluster("c1"), {}, false],
    ["by an empty selector", cluster("c1"), { clusterSelector: {} }, true],
  ];
  for (const [what, of, criteria, isIn] of rows)
    test(`takes a cluster ${what}`, async () => {
      const listed = await listedMembers(
        { partitions: [criteria] },
        [of],
        groups,
        createTimeSlices(),
      );
      assert.deepEqual(listed, [isIn ? [0] : []]);
    });

  test("shares a cluster with another one that matches it, too", () => {
    const { partitions, unassigned } = partitionsOf({ partitions: [{}, {}] }, 10, [
      [0, 1, 2, 3, 4, 5],
      [4, 5, 6, 7, 8, 9],
    ]);

    assert.deepEqual(
      partitions.map(({ members }) => members.length),
      [6, 6],
    );
    assert.deepEqual(unassigned, []);
  });

  test("leaves clusters out, whatever autoPartitionSize says", () => {
    const strategy = { autoPartitionSize: "50%", partitions: [{ name: "x" }] };
    const { partitions, unassigned } = partitionsOf(strategy, 3, [[1]]);

    assert.deepEqual(partitions, [{ name: "x", members: [1], maxUnavailable: 1 }]);
    assert.deepEqual(unassigned, [0, 2]);
  });

  test("has its own limit, else the one of the strategy; without clusters it is one", () => {
    const strategy = {
      maxUnavailable: "20%",
      partitions: [{ maxUnavailable: "50%" }, { name: "b" }, { name: "c", maxUnavailable: 0 }],
    };
    const { partitions } = partitionsOf(strategy, 10, [[0, 1, 2, 3], [4, 5, 6, 7, 8], []]);

    assert.deepEqual(
      partitions.map(({ name, maxUnavailable }) => [name, maxUnavailable]),
      [
        ["partition 1", 2],
        ["b", 1],
        ["c", 1],
      ],
    );
  });
});

test("a strategy without any value is none", () => {
  assert.equal(isStrategy(undefined), false);
  assert.equal(isStrategy(null), false);
  assert.equal(isStrategy({}), false);
  assert.equal(isStrategy({ maxUnavailable: null }), false);
  assert.equal(isStrategy({ maxNew: 0 }), true);
});
