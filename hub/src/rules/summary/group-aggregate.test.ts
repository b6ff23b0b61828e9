import assert from "node:assert/strict";
import { apiVersion, bundleStates, type Cluster, type ClusterGroup } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { describe, test } from "vitest";
import { aCluster, workspace } from "../../testing/index.ts";
import { addCounts, noResources, noStates, worstOf } from "./bundle-aggregate.ts";
import { createGroupAggregates, type GroupAggregate, type Member } from "./group-aggregate.ts";

function aGroup(name: string, matchLabels: Record<string, string> | undefined): ClusterGroup {
  return {
    apiVersion,
    kind: "ClusterGroup",
    metadata: { name, namespace: workspace },
    spec: matchLabels === undefined ? {} : { selector: { matchLabels } },
  };
}

function member(
  changes: Partial<Member["states"]> = {},
  isReady = true,
  isOffline = false,
): Member {
  const states = { ...noStates(), ...changes };
  const total = Object.values(states).reduce((sum, count) => sum + count, 0);
  return { states, total, resources: { ...noResources(), ready: total }, isReady, isOffline };
}

function plain({
  states,
  total,
  resources,
  clusters,
  unready,
  offline,
  deployments,
}: GroupAggregate) {
  return {
    states,
    total,
    resources,
    clusters,
    unready: [...unready],
    offline: [...offline],
    deployments: bundleStates.flatMap((state) => {
      const keys = [...(deployments.get(state) ?? [])];
      return keys.length === 0 ? [] : [[state, keys]];
    }),
  };
}

/** The same from all clusters at once. */
function recount(
  group: ClusterGroup | undefined,
  clusters: readonly Cluster[],
  members: ReadonlyMap<string, Member>,
) {
  const states = noStates();
  const resources = noResources();
  const matchLabels = group?.spec.selector?.matchLabels;
  const own = clusters
    .filter(
      ({ metadata }) =>
        matchLabels !== undefined &&
        matchLabels !== null &&
        Object.entries(matchLabels).every(([name, value]) => metadata.labels?.[name] === value),
    )
    .map((cluster) => [keyOf(cluster), members.get(cluster.metadata.name) ?? member()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, { states: counted, resources: objects }] of own) {
    for (const state of bundleStates) states[state] += counted[state];
    addCounts(resources, objects, 1);
  }
  return {
    states,
    total: own.reduce((sum, [, { total }]) => sum + total, 0),
    resources,
    clusters: own.length,
    unready: own.filter(([, { isReady }]) => !isReady).map(([key]) => key),
    offline: own.filter(([, { isOffline }]) => isOffline).map(([key]) => key),
    deployments: bundleStates.flatMap((state) => {
      const keys = own
        .filter(([, { states: counted, total }]) => total > 0 && worstOf(counted) === state)
        .map(([key]) => key);
      return keys.length === 0 ? [] : [[state, keys]];
    }),
  };
}

describe("the aggregates of a group", () => {
  test("are empty for a group without a selector", () => {
    const aggregates = createGroupAggregates(() => member({ Ready: 1 }));
    const group = aGroup("none", undefined);
    aggregates.groupChanged(keyOf(group), group, [aCluster("paris")]);

    assert.deepEqual(plain(aggregates.of(keyOf(group))), recount(group, [], new Map()));
  });

  test("notify only groups that a report changes, and none when it changes nothing", () => {
    let now = member({ Ready: 1 });
    const aggregates = createGroupAggregates(() => now);
    const eu = aGroup("eu", { region: "eu" });
    const us = aGroup("us", { region: "us" });
    const paris = aCluster("paris", { metadata: { labels: { region: "eu" } } });
    for (const group of [eu, us]) aggregates.groupChanged(keyOf(group), group, [paris]);

    assert.deepEqual(aggregates.recount(paris), []);
    now = member({ NotReady: 1 }, false);
    assert.deepEqual(aggregates.recount(paris), [keyOf(eu)]);
    assert.equal(aggregates.of(keyOf(eu)).states.NotReady, 1);
  });

  test("notify the group that a cluster left and the one that it joined", () => {
    const aggregates = createGroupAggregates(() => member({ Ready: 1 }));
    const groups = [aGroup("eu", { region: "eu" }), aGroup("us", { region: "us" })];
    const inRegion = (region: string) => aCluster("c", { metadata: { labels: { region } } });
    const key = keyOf(inRegion("eu"));

    assert.deepEqual(aggregates.clusterChanged(key, inRegion("eu"), groups), [`${workspace}/eu`]);
    assert.deepEqual([...aggregates.clusterChanged(key, inRegion("us"), groups)].sort(), [
      `${workspace}/eu`,
      `${workspace}/us`,
    ]);
    assert.deepEqual(aggregates.clusterChanged(key, undefined, groups), [`${workspace}/us`]);
    assert.equal(aggregates.of(`${workspace}/us`).clusters, 0);
  });

  const count = fc.nat({ max: 3 });
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("cluster" as const),
      name: fc.constantFrom("a", "b", "c"),
      region: fc.constantFrom("eu", "us"),
      isGone: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant("report" as const),
      name: fc.constantFrom("a", "b", "c"),
      counted: fc
        .record({ Ready: count, NotReady: count, ErrApplied: count })
        .chain((states) =>
          fc
            .tuple(fc.boolean(), fc.boolean())
            .map(([isReady, isOffline]) => member(states, isReady, isOffline)),
        ),
    }),
    fc.record({
      kind: fc.constant("group" as const),
      name: fc.constantFrom("x", "y"),
      region: fc.constantFrom("eu", "us", undefined),
      isGone: fc.boolean(),
    }),
  );

  test("equal a recount after any changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const clusters = new Map<string, Cluster>();
        const groups = new Map<string, ClusterGroup>();
        const members = new Map<string, Member>();
        const aggregates = createGroupAggregates(
          ({ metadata }) => members.get(metadata.name) ?? member(),
        );
        for (const change of steps) {
          switch (change.kind) {
            case "cluster": {
              const labels = { region: change.region };
              const cluster = aCluster(change.name, { metadata: { labels } });
              if (change.isGone) clusters.delete(change.name);
              else clusters.set(change.name, cluster);
              aggregates.clusterChanged(keyOf(cluster), clusters.get(change.name), [
                ...groups.values(),
              ]);
              break;
            }
            case "report": {
              members.set(change.name, change.counted);
              const cluster = clusters.get(change.name);
              if (cluster !== undefined) aggregates.recount(cluster);
              break;
            }
            case "group": {
              const { region } = change;
              const group = aGroup(change.name, region === undefined ? undefined : { region });
              if (change.isGone) groups.delete(change.name);
              else groups.set(change.name, group);
              aggregates.groupChanged(keyOf(group), groups.get(change.name), [
                ...clusters.values(),
              ]);
              break;
            }
          }
        }

        for (const name of ["x", "y"]) {
          assert.deepEqual(
            plain(aggregates.of(`${workspace}/${name}`)),
            recount(groups.get(name), [...clusters.values()], members),
          );
        }
      }),
    );
  });
});
