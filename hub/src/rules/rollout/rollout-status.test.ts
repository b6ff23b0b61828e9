import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { RolloutStrategy } from "./partitions.ts";
import { rolloutFields, rolloutRemarks, rolloutWaitText } from "./rollout-status.ts";
import { fleetOf, simulateRollout } from "./testing/index.ts";

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** What the status says after a step of ten clusters from v1 to v2. */
function textOf(
  strategy: RolloutStrategy,
  { isNew = false, isOffline = false, listed = [] as readonly (readonly number[])[] } = {},
): string | undefined {
  const clusters = fleetOf(10, isNew ? undefined : "v1");
  for (const cluster of clusters) cluster.isOffline = isOffline;
  const rollout = simulateRollout({ strategy, clusters, listed });
  rollout.step("v2");
  return rolloutWaitText(rolloutFields(rollout.plan));
}

describe("a rollout says what it waits for", () => {
  const partitions = [{ name: "staging" }, { name: "prod" }];
  const listed = [range(0, 4), range(4, 10)];
  const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ["nothing", textOf({ maxUnavailable: 10 }), undefined],
    [
      "clusters that are unavailable",
      textOf({ maxUnavailable: 2 }),
      "rollout: 8 clusters wait for their turn, 2 are unavailable, and maxUnavailable is 2",
    ],
    [
      "a limit of none",
      textOf({ maxUnavailable: 0 }),
      "rollout: 10 clusters wait for their turn, and maxUnavailable is 0",
    ],
    [
      "a partition whose limit is none",
      textOf({ partitions: [{ name: "a", maxUnavailable: 0 }] }, { listed: [range(0, 10)] }),
      "rollout: 10 clusters wait for their turn, and maxUnavailable of partition a is 0",
    ],
    [
      "first installations",
      textOf({ maxNew: 3 }, { isNew: true }),
      "rollout: 7 clusters wait for their turn, 3 are being installed for the first time, and maxNew is 3",
    ],
    [
      "unavailable clusters of one partition",
      textOf(
        { partitions: partitions.map((each) => ({ ...each, maxUnavailable: 1 })) },
        { listed },
      ),
      "rollout: 9 clusters wait for their turn, partition staging has as many unavailable clusters as its maxUnavailable allows, 1",
    ],
    [
      "clusters that are offline",
      textOf({ maxUnavailable: 2 }, { isOffline: true }),
      "rollout: 10 clusters wait for their turn, the clusters of partition All are offline or paused",
    ],
  ];
  for (const [what, text, expected] of rows)
    test(what, () => {
      assert.equal(text, expected);
    });

  test("an earlier partition", () => {
    const clusters = fleetOf(10, "v1");
    for (const cluster of clusters.slice(0, 4)) cluster.failsWith.add("v2");
    const strategy = { partitions: [{ name: "staging", maxUnavailable: "75%" }, { name: "prod" }] };
    const rollout = simulateRollout({ strategy, clusters, listed });
    rollout.step("v2");
    rollout.report();
    // The fourth cluster is not ready by itself, so it is promoted whatever the limit says.
    const last = clusters[3];
    assert.ok(last !== undefined);
    last.deployment = { desired: "v1", applied: "v1", isReady: false };
    rollout.step("v2");

    assert.equal(
      rolloutWaitText(rolloutFields(rollout.plan)),
      "rollout: 6 clusters wait for their turn, partition prod until at most 3 of 4 clusters of partition staging are not updated and ready (4 now)",
    );
  });
});

test("the status has Fleet's fields", () => {
  const rollout = simulateRollout({
    strategy: { maxUnavailable: 2, maxNew: 5 },
    clusters: fleetOf(10, "v1"),
  });
  rollout.step("v2");

  assert.deepEqual(rolloutFields(rollout.plan), {
    partitions: [
      {
        name: "All",
        count: 10,
        maxUnavailable: 2,
        unavailable: 10,
        summary: { desiredReady: 10, ready: 0, waitApplied: 2, outOfSync: 8 },
      },
    ],
    unavailable: 2,
    maxUnavailable: 2,
    unavailablePartitions: 1,
    maxUnavailablePartitions: 0,
    newlyCreated: 0,
    maxNew: 5,
  });
});

test("the status lists at most a hundred partitions, from the first that is not completed", () => {
  const clusters = fleetOf(300, "v1");
  const strategy = { autoPartitionSize: 1, maxUnavailable: 1 };
  const rollout = simulateRollout({ strategy, clusters });
  for (const cluster of clusters.slice(0, 150))
    cluster.deployment = { desired: "v2", applied: "v2", isReady: true };
  rollout.step("v2");

  const listed = rolloutFields(rollout.plan).partitions ?? [];
  assert.equal(listed.length, 100);
  assert.equal(listed[0]?.name, "Partition 150 - 151");
});

test("remarks say what a strategy never updates", () => {
  const strategy = { maxUnavailable: 0, maxNew: 0, partitions: [{ maxUnavailable: 0 }] };
  const clusters = fleetOf(2, "v1");
  const { plan } = simulateRollout({ strategy, clusters, listed: [[0, 1]] });

  assert.deepEqual(rolloutRemarks(strategy, plan, { names: ["c00", "c01"], listed: [[0, 1]] }), [
    "spec.rolloutStrategy.maxUnavailable is 0: clusters that are available are never updated",
    "spec.rolloutStrategy.partitions[0].maxUnavailable is 0: its clusters that are available are never updated",
    "spec.rolloutStrategy.maxNew is 0: nothing is installed in new clusters",
  ]);
});

test("remarks name the clusters that two partitions take", () => {
  const names = ["c00", "c01", "c02", "c03"];
  const listed = [[0], [1, 2], [0, 2, 3]];
  const strategy = { maxUnavailable: 1, partitions: [{}, {}, {}] };
  const { plan } = simulateRollout({ strategy, clusters: fleetOf(4, "v1"), listed });

  assert.deepEqual(rolloutRemarks(strategy, plan, { names, listed }), [
    "spec.rolloutStrategy.partitions[0] and spec.rolloutStrategy.partitions[2] take the cluster c00: it is updated with the first and counts in both; narrow one of them if that is not meant",
  ]);
  assert.deepEqual(rolloutRemarks(strategy, plan, { names, listed: [[0], [1, 2, 3], [1, 3]] }), [
    "spec.rolloutStrategy.partitions[1] and spec.rolloutStrategy.partitions[2] take 2 clusters (c01, c03): they are updated with the first and count in both; narrow one of them if that is not meant",
  ]);
});
