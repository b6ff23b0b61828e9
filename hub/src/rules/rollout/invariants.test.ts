/** What holds for every rollout strategy, over random fleets and whatever happens in between. Nothing is kept but what is stored. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { CountOrShare } from "./limit.ts";
import { maxUnavailableOf, partitionsOf, type RolloutStrategy } from "./partitions.ts";
import { fleetOf, type SimulatedCluster, simulateRollout } from "./testing/index.ts";

type Event =
  | { readonly kind: "step" }
  /** Some agents report. `fails`: not ready. */
  | { readonly kind: "report"; readonly of: number; readonly fails: boolean }
  | { readonly kind: "offline" | "online" | "pause" | "resume" | "join"; readonly of: number }
  | { readonly kind: "revision" };

const position = fc.nat({ max: 15 });
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Event>({ kind: "step" }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("report" as const),
      of: position,
      fails: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(["offline", "online", "pause", "resume", "join"] as const)),
      of: position,
    }),
  },
  { weight: 1, arbitrary: fc.constant<Event>({ kind: "revision" }) },
);

const limit: fc.Arbitrary<CountOrShare> = fc.constantFrom(
  undefined,
  0,
  1,
  2,
  3,
  "1%",
  "25%",
  "50%",
  "2",
);
const someLimit: fc.Arbitrary<CountOrShare> = fc.constantFrom(
  undefined,
  1,
  2,
  3,
  "1%",
  "25%",
  "50%",
  "2",
);

function strategyWith(limits: typeof limit): fc.Arbitrary<RolloutStrategy> {
  return fc.record({
    maxUnavailable: limits,
    maxUnavailablePartitions: fc.constantFrom(undefined, 0, 1, "50%"),
    autoPartitionSize: fc.constantFrom(undefined, 0, 3, "25%", "50%"),
    autoPartitionThreshold: fc.constantFrom(undefined, 1, 5),
    maxNew: fc.constantFrom(undefined, 1, 3),
    partitions: fc.oneof(
      { weight: 2, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.array(fc.record({ maxUnavailable: limits }), { maxLength: 3 }) },
    ),
  });
}

/** For each listed partition the positions of its clusters; some are in several, some in none. */
const listed = fc.array(fc.uniqueArray(position, { maxLength: 12 }), {
  minLength: 3,
  maxLength: 3,
});

interface History {
  readonly strategy: RolloutStrategy;
  readonly count: number;
  readonly listed: readonly (readonly number[])[];
  readonly events: readonly Event[];
}

function historyWith(limits: typeof limit): fc.Arbitrary<History> {
  return fc.record({
    strategy: strategyWith(limits),
    count: fc.integer({ min: 1, max: 16 }),
    listed,
    events: fc.array(event, { minLength: 4, maxLength: 40 }),
  });
}

/** As the rules say it, apart from how they are computed. */
function isUnavailable({ deployment, isOffline, pause }: SimulatedCluster, revision: string) {
  if (deployment === undefined || deployment.desired === "") return false;
  const { desired, applied, isReady } = deployment;
  const isInFlight = desired !== applied || (desired === revision && !isReady);
  return isInFlight || (!isReady && !isOffline && pause === undefined);
}

/** A fleet on `v0` in which everything happens that a history says; `check` sees each step. */
function play(
  { strategy, count, listed: all, events }: History,
  check: (step: CheckedStep) => void,
) {
  const clusters = fleetOf(count, "v0");
  let revision = 1;
  const members = (own: readonly number[]) =>
    own.filter((each) => each < clusters.length).sort((a, b) => a - b);
  const present = () => all.slice(0, strategy.partitions?.length ?? 0).map(members);
  const rollout = () => simulateRollout({ strategy, clusters, listed: present() });

  function step(): readonly string[] {
    const content = `v${revision}`;
    const partitioned = partitionsOf(strategy, clusters.length, present());
    const before = clusters.map((each) => ({ ...each }));
    const current = rollout();
    const promoted = current.step(content);
    check({ content, before, clusters, promoted, partitioned, plan: current.plan, strategy });
    assert.deepEqual(rollout().step(content), [], "a repeated step promotes nothing");
    return promoted;
  }

  for (const each of events) {
    const cluster = "of" in each ? clusters[each.of] : undefined;
    switch (each.kind) {
      case "step":
        step();
        break;
      case "revision":
        revision += 1;
        break;
      case "join":
        if (clusters.length < 16)
          clusters.push(...fleetOf(17, undefined).slice(clusters.length, clusters.length + 1));
        break;
      case "report":
        if (cluster?.deployment === undefined || cluster.isOffline) break;
        cluster.deployment = {
          desired: cluster.deployment.desired,
          applied: cluster.deployment.desired,
          isReady: !each.fails,
        };
        break;
      case "offline":
      case "online":
        if (cluster !== undefined) cluster.isOffline = each.kind === "offline";
        break;
      case "pause":
      case "resume":
        if (cluster !== undefined)
          cluster.pause = each.kind === "pause" ? "clusterPaused" : undefined;
        break;
    }
  }
  return { clusters, step, rollout, content: () => `v${revision}`, members };
}

interface CheckedStep {
  readonly strategy: RolloutStrategy;
  readonly content: string;
  readonly before: readonly SimulatedCluster[];
  readonly clusters: readonly SimulatedCluster[];
  readonly promoted: readonly string[];
  readonly partitioned: ReturnType<typeof partitionsOf>;
  readonly plan: ReturnType<typeof simulateRollout>["plan"];
}

function checkStep({ strategy, content, before, promoted, partitioned, plan }: CheckedStep): void {
  const isPromoted = new Set(promoted);
  const unavailableIn = (positions: readonly number[]) =>
    positions.filter((each) => {
      const cluster = before[each];
      return cluster !== undefined && isUnavailable(cluster, content);
    }).length;
  const availableIn = (positions: readonly number[]) =>
    positions.filter((each) => {
      const cluster = before[each];
      return (
        cluster?.deployment !== undefined &&
        cluster.deployment.desired !== "" &&
        isPromoted.has(cluster.name) &&
        !(cluster.deployment.applied !== cluster.deployment.desired || !cluster.deployment.isReady)
      );
    });
  const all = before.map((_, index) => index);

  // 2: nothing that is available is promoted while as many are unavailable as allowed.
  const ofBundle = availableIn(all).length;
  if (ofBundle > 0)
    assert.ok(unavailableIn(all) + ofBundle <= maxUnavailableOf(strategy, before.length));
  const taken = new Set<number>();
  for (const { members, maxUnavailable } of partitioned.partitions) {
    const own = availableIn(members).filter((each) => !taken.has(each));
    if (own.length > 0) assert.ok(unavailableIn(members) + own.length <= maxUnavailable);
    for (const each of members) taken.add(each);
  }

  // 5: nothing reaches clusters that are offline or paused, or that no partition takes.
  for (const [index, cluster] of before.entries())
    if (cluster.isOffline || cluster.pause !== undefined || !taken.has(index))
      assert.ok(!isPromoted.has(cluster.name));

  // First installations keep to their own limit.
  const installing = before.filter(
    ({ deployment }) =>
      deployment !== undefined && deployment.desired !== "" && deployment.applied === "",
  ).length;
  const added = before.filter(
    ({ name, deployment }) => deployment === undefined && isPromoted.has(name),
  ).length;
  if (strategy.maxNew !== undefined && strategy.maxNew !== null && added > 0)
    assert.ok(installing + added <= strategy.maxNew);

  // 10: the counts add up, and every cluster is in a partition or unassigned.
  for (const [index, { counts }] of plan.partitions.entries()) {
    const { total, ...each } = counts;
    assert.equal(
      Object.values(each).reduce((sum, count) => sum + count, 0),
      total,
    );
    assert.equal(total, partitioned.partitions[index]?.members.length);
  }
  assert.equal(taken.size + plan.unassigned.length, before.length);
}

test("no step of any history exceeds a limit, or reaches a cluster that it may not reach", () => {
  fc.assert(
    fc.property(historyWith(limit), (history) => {
      play(history, checkStep);
    }),
    { numRuns: 2_000 },
  );
});

test("every history ends with the revision everywhere once all agents are connected and succeed", () => {
  fc.assert(
    fc.property(historyWith(someLimit), (history) => {
      const { clusters, step, rollout, content, members } = play(history, checkStep);
      for (const cluster of clusters) {
        cluster.isOffline = false;
        cluster.pause = undefined;
      }
      for (let steps = 0; steps < 200; steps += 1) {
        rollout().report();
        if (step().length === 0) break;
      }

      const isListed = (history.strategy.partitions ?? []).length > 0;
      const assigned = new Set(
        history.listed.slice(0, history.strategy.partitions?.length).flatMap(members),
      );
      for (const [index, { deployment }] of clusters.entries())
        if (!isListed || assigned.has(index)) assert.equal(deployment?.desired, content());
    }),
    { numRuns: 700 },
  );
});
