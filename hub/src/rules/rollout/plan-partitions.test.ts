/** The known answers of Fleet's model by their numbers, and where ours differ. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { RolloutStrategy } from "./partitions.ts";
import {
  fleetOf,
  type SimulatedCluster,
  type SimulatedRollout,
  simulateRollout,
} from "./testing/index.ts";

/** How many clusters each step promotes. */
function sizes(rollout: SimulatedRollout, content = "v2"): readonly number[] {
  return rollout.run(content).map((promoted) => promoted.length);
}

function start(
  clusters: readonly SimulatedCluster[],
  strategy: RolloutStrategy = {},
  listed: readonly (readonly number[])[] = [],
): SimulatedRollout {
  return simulateRollout({ clusters, strategy, listed });
}

function each(count: number, size: number): readonly number[] {
  return Array.from({ length: count }, () => size);
}

/** The positions from `from` up to `to`, which is not one of them. */
function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** These never become ready on v2. */
function failing(clusters: readonly SimulatedCluster[], ...positions: readonly number[]) {
  for (const position of positions) clusters[position]?.failsWith.add("v2");
  return clusters;
}

function offline(clusters: readonly SimulatedCluster[], ...positions: readonly number[]) {
  for (const [position, cluster] of clusters.entries())
    if (positions.includes(position)) cluster.isOffline = true;
  return clusters;
}

function paused(clusters: readonly SimulatedCluster[], ...positions: readonly number[]) {
  for (const [position, cluster] of clusters.entries())
    if (positions.includes(position)) cluster.pause = "clusterPaused";
  return clusters;
}

describe("a rollout promotes", () => {
  test("1: all ten at once with an empty strategy", () => {
    const rollout = start(fleetOf(10, "v1"));

    assert.equal(rollout.step("v2").length, 10);
    assert.deepEqual([rollout.plan.unavailable, rollout.plan.maxUnavailable], [10, 10]);
  });

  test("2: two at a time, in the order of their names", () => {
    const rollout = start(fleetOf(10, "v1"), { maxUnavailable: 2 });

    assert.deepEqual(rollout.run("v2"), [
      ["c00", "c01"],
      ["c02", "c03"],
      ["c04", "c05"],
      ["c06", "c07"],
      ["c08", "c09"],
    ]);
  });

  test("3: nothing for ever with maxUnavailable 0", () => {
    assert.deepEqual(sizes(start(fleetOf(10, "v1"), { maxUnavailable: 0 })), []);
  });

  test("4: new clusters whatever maxUnavailable says", () => {
    assert.deepEqual(sizes(start(fleetOf(10, undefined), { maxUnavailable: 0 })), [10]);
  });

  test("5: all new clusters at once, in Fleet fifty in each step", () => {
    assert.deepEqual(sizes(start(fleetOf(120, undefined))), [120]);
  });

  test("5: with maxNew 50 as many new clusters as in Fleet", () => {
    assert.deepEqual(sizes(start(fleetOf(120, undefined), { maxNew: 50 })), [50, 50, 20]);
  });

  test("6: new clusters in the same way with maxUnavailable 10%", () => {
    const strategy = { maxUnavailable: "10%" };

    assert.deepEqual(sizes(start(fleetOf(120, undefined), strategy)), [120]);
    assert.deepEqual(
      sizes(start(fleetOf(120, undefined), { ...strategy, maxNew: 50 })),
      [50, 50, 20],
    );
  });

  test("7: nothing for ever with maxNew 0", () => {
    assert.deepEqual(sizes(start(fleetOf(120, undefined), { maxNew: 0 })), []);
  });

  test("8: a thousand at once with an empty strategy: its partitions hold nothing", () => {
    const rollout = start(fleetOf(1_000, "v1"));

    assert.deepEqual(sizes(rollout), [1_000]);
    assert.equal(rollout.plan.partitions.length, 4);
  });

  test("9: 25 of 1,000 at a time with maxUnavailable 10%, and 50 where one partition is done with 25 left", () => {
    const steps = sizes(start(fleetOf(1_000, "v1"), { maxUnavailable: "10%" }));

    assert.equal(steps.length, 37);
    assert.deepEqual(steps.slice(0, 10), [...each(9, 25), 50]);
  });

  test("10: all of 200 with partitions whose limit is their size", () => {
    const strategy = { maxUnavailablePartitions: 1, autoPartitionSize: "10%" };

    assert.deepEqual(sizes(start(fleetOf(200, "v1"), strategy)), [200]);
  });

  test("11: two in each of two partitions at a time", () => {
    const strategy = {
      maxUnavailablePartitions: 1,
      autoPartitionSize: "10%",
      maxUnavailable: "10%",
    };
    const rollout = start(fleetOf(200, "v1"), strategy);

    assert.deepEqual(rollout.step("v2"), ["c000", "c001", "c020", "c021"]);
    rollout.report();
    assert.deepEqual(rollout.step("v2"), ["c002", "c003", "c022", "c023"]);
  });

  test("12: nothing more once two never become ready", () => {
    const clusters = failing(fleetOf(10, "v1"), 0, 1);

    assert.deepEqual(start(clusters, { maxUnavailable: 2 }).run("v2"), [["c00", "c01"]]);
  });

  test("13: one at a time past two that never become ready, with a place more", () => {
    const rollout = start(failing(fleetOf(10, "v1"), 0, 1), { maxUnavailable: 3 });

    assert.deepEqual(sizes(rollout), [3, ...each(7, 1)]);
    assert.equal(rollout.step("v2").length, 0);
    assert.equal(rollout.plan.unavailable, 2);
  });

  test("14: past clusters that are offline, which in Fleet hold their places", () => {
    const rollout = start(offline(fleetOf(10, "v1"), 0, 1), { maxUnavailable: 2 });

    assert.deepEqual(
      rollout.run("v2").flat(),
      range(2, 10).map((index) => `c0${index}`),
    );
    assert.deepEqual(rollout.plan.holds.slice(0, 2), ["offline", "offline"]);
    assert.equal(rollout.plan.unavailable, 0);
  });

  test("14: clusters that come back, within the same limit", () => {
    const clusters = offline(fleetOf(10, "v1"), 0, 1, 2);
    const rollout = start(clusters, { maxUnavailable: 2 });
    rollout.run("v2");
    for (const cluster of clusters) cluster.isOffline = false;

    assert.deepEqual(rollout.run("v2"), [["c00", "c01"], ["c02"]]);
  });

  test("14: nothing more while clusters that went offline in flight hold their places", () => {
    const clusters = fleetOf(10, "v1");
    const rollout = start(clusters, { maxUnavailable: 2 });
    rollout.step("v2");
    offline(clusters, 0, 1);
    rollout.report();

    assert.deepEqual(rollout.run("v2"), []);
  });

  test("15: staging before prod, and nothing in other", () => {
    const strategy = {
      partitions: [
        { name: "staging", maxUnavailable: "10%" },
        { name: "prod", maxUnavailable: "5%" },
      ],
    };
    const rollout = start(fleetOf(10, "v1"), strategy, [range(0, 4), range(4, 9)]);

    assert.deepEqual(rollout.run("v2"), [
      ["c00"],
      ["c01"],
      ["c02"],
      ["c03", "c04"],
      ["c05"],
      ["c06"],
      ["c07"],
      ["c08"],
    ]);
    assert.deepEqual(rollout.plan.unassigned, [9]);
    assert.equal(rollout.plan.holds[9], "unassigned");
  });

  test("16: all at once with partitions that have no limit", () => {
    const strategy = { partitions: [{ name: "staging" }, { name: "prod" }] };

    assert.deepEqual(sizes(start(fleetOf(10, "v1"), strategy, [range(0, 4), range(4, 10)])), [10]);
  });

  test("17: nothing after the only place is taken by a cluster that fails", () => {
    const strategy = { maxUnavailable: 1, partitions: [{ name: "staging" }, { name: "prod" }] };
    const clusters = failing(fleetOf(10, "v1"), 0);

    assert.deepEqual(start(clusters, strategy, [range(0, 4), range(4, 10)]).run("v2"), [["c00"]]);
  });

  test("18: everything with one place less where there are two", () => {
    const strategy = { maxUnavailable: 2, partitions: [{ name: "staging" }, { name: "prod" }] };
    const rollout = start(failing(fleetOf(10, "v1"), 0), strategy, [range(0, 4), range(4, 10)]);

    assert.equal(rollout.run("v2").flat().length, 10);
    rollout.step("v2");
    assert.equal(rollout.plan.unavailable, 1);
  });

  test("19: one at a time past clusters that are paused", () => {
    const rollout = start(paused(fleetOf(10, "v1"), 0, 4, 9), { maxUnavailable: 1 });

    assert.deepEqual(sizes(rollout), each(7, 1));
    rollout.step("v2");
    assert.equal(rollout.plan.unavailablePartitions, 0);
  });

  test("20: the second partition past paused clusters of the first, where Fleet stops", () => {
    const strategy = { maxUnavailable: 1, partitions: [{ name: "a" }, { name: "b" }] };
    const clusters = paused(fleetOf(10, "v1"), 0, 1, 2);
    const rollout = start(clusters, strategy, [range(0, 5), range(5, 10)]);

    assert.equal(rollout.run("v2").flat().length, 7);
  });

  test("21: a newer revision from the start, while clusters with the one before wait for their turn", () => {
    const clusters = fleetOf(10, "v1");
    const rollout = start(clusters, { maxUnavailable: 2 });
    for (const _ of [1, 2]) {
      rollout.step("v2");
      rollout.report();
    }

    assert.deepEqual(rollout.step("v3"), ["c00", "c01"]);
    assert.equal(clusters[2]?.deployment?.desired, "v2");
  });

  test("22: a newer revision at once to clusters that are unavailable", () => {
    const rollout = start(failing(fleetOf(10, "v1"), 0, 1), { maxUnavailable: 2 });
    rollout.run("v2");

    assert.deepEqual(rollout.step("v3"), ["c00", "c01"]);
  });

  test("23: nothing to a cluster that no partition takes", () => {
    const rollout = start(fleetOf(2, "v1"), { partitions: [{ name: "x" }] }, [[0]]);

    assert.deepEqual(rollout.run("v2"), [["c00"]]);
    assert.equal(rollout.plan.holds[1], "unassigned");
  });

  test("24: clusters of two partitions with the first", () => {
    const strategy = { maxUnavailable: 2, partitions: [{ name: "t" }, { name: "a" }] };
    const rollout = start(fleetOf(10, "v1"), strategy, [range(0, 6), range(4, 10)]);

    assert.deepEqual(rollout.run("v2"), [
      ["c00", "c01"],
      ["c02", "c03"],
      ["c04", "c05"],
      ["c06", "c07"],
      ["c08", "c09"],
    ]);
  });

  test("25: the second partition of new clusters once at most ten of the first are left", () => {
    const strategy = { maxUnavailable: 10, partitions: [{ name: "a" }, { name: "b" }] };
    const listed = [range(0, 100), range(100, 200)];

    assert.deepEqual(sizes(start(fleetOf(200, undefined), strategy, listed)), [100, 100]);
    assert.deepEqual(
      sizes(start(fleetOf(200, undefined), { ...strategy, maxNew: 50 }, listed)),
      [50, 50, 50, 50],
    );
  });
});

describe("a cluster", () => {
  const strategy = { maxUnavailable: 1 };
  const withDeployment = (desired: string, applied: string, isReady: boolean) => {
    const clusters = fleetOf(2, "v1");
    const [first] = clusters;
    assert.ok(first !== undefined);
    first.deployment = { desired, applied, isReady };
    return start(clusters, strategy);
  };

  test("is available without a deployment", () => {
    const rollout = start(fleetOf(2, undefined), { ...strategy, maxNew: 0 });
    rollout.step("v2");
    assert.equal(rollout.plan.unavailable, 0);
  });

  const rows: readonly (readonly [string, string, string, boolean, number])[] = [
    [
      "is unavailable while another content is applied, also while that is ready",
      "v2",
      "v1",
      true,
      1,
    ],
    ["is unavailable when it has the content and is not ready", "v2", "v2", false, 1],
    ["is available when it has the content and is ready", "v2", "v2", true, 0],
    ["is available when an earlier content is ready that was not replaced", "v1", "v1", true, 0],
  ];
  for (const [what, desired, applied, isReady, unavailable] of rows)
    test(what, () => {
      const rollout = withDeployment(desired, applied, isReady);
      const content = desired;
      rollout.step(content);
      const others = content === "v1" ? 0 : 1;
      // The other cluster takes the place where there is one.
      assert.equal(rollout.plan.unavailable, Math.max(unavailable, others));
      assert.equal(
        rollout.plan.holds[1],
        unavailable > 0 && others > 0 ? "maxUnavailable" : undefined,
      );
    });

  test("that is paused in flight takes a place until it is ready", () => {
    const clusters = fleetOf(2, "v1");
    const rollout = start(clusters, strategy);
    rollout.step("v2");
    paused(clusters, 0);

    assert.deepEqual(rollout.step("v2"), []);
    rollout.report();
    assert.deepEqual(rollout.step("v2"), ["c01"]);
  });

  test("that is not ready and offline with an earlier content takes no place", () => {
    const clusters = offline(fleetOf(3, "v1"), 0);
    const [first] = clusters;
    assert.ok(first !== undefined);
    first.deployment = { desired: "v1", applied: "v1", isReady: false };

    assert.deepEqual(start(clusters, strategy).run("v2"), [["c01"], ["c02"]]);
  });

  test("that is new and offline gets nothing, and later partitions do not wait for it", () => {
    const clusters = [...fleetOf(1, undefined), ...fleetOf(3, "v1").slice(1)];
    offline(clusters, 0);
    const partitions = [{ name: "a" }, { name: "b" }];
    const rollout = start(clusters, { maxUnavailable: 1, partitions }, [[0], [1, 2]]);

    assert.deepEqual(rollout.run("v2"), [["c01"], ["c02"]]);
    assert.equal(rollout.plan.holds[0], "offline");
  });
});

test("counts add up, and say what each cluster waits for", () => {
  const clusters = failing(fleetOf(6, "v1"), 1);
  const fresh = clusters[5];
  assert.ok(fresh !== undefined);
  fresh.deployment = undefined;
  const rollout = start(clusters, { maxUnavailable: 2, maxNew: 0 });
  rollout.step("v2");
  rollout.report();
  rollout.step("v2");

  assert.deepEqual(rollout.plan.partitions, [
    {
      name: "All",
      maxUnavailable: 2,
      unavailable: 5,
      counts: { total: 6, ready: 1, notReady: 1, waitApplied: 1, outOfSync: 2, pending: 1 },
    },
  ]);
});
