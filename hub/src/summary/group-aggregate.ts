/**
 * Running totals over the clusters of each ClusterGroup. A report changes a few numbers of the groups that its cluster
 * belongs to; who belongs to which is looked at only when labels or selectors change.
 */
import { isDeepStrictEqual } from "node:util";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { selects } from "@flotilla/shared/api/label-selector.ts";
import {
  type BundleState,
  bundleStates,
  type ResourceCounts,
} from "@flotilla/shared/api/summary.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import { type Aggregate, addCounts, noResources, noStates, worstOf } from "./bundle-aggregate.ts";
import { createSortedKeys, type MutableSortedKeys, type SortedKeys } from "./sorted-keys.ts";

export interface GroupAggregate extends Pick<Aggregate, "states" | "total" | "resources"> {
  readonly clusters: number;
  /** Keys of the clusters that somebody has to look at. */
  readonly unready: SortedKeys;
  /** Keys of the clusters of which nothing is heard. */
  readonly offline: SortedKeys;
  /** Keys of the clusters by the worst state of what they run. */
  readonly deployments: ReadonlyMap<BundleState, SortedKeys>;
}

/** What counts of one cluster; a copy, since tallies go on counting. */
export interface Member {
  readonly states: Readonly<Record<BundleState, number>>;
  readonly total: number;
  readonly resources: ResourceCounts;
  /** Whether nobody has to look at it: its agent is there and all that it runs is ready. */
  readonly isReady: boolean;
  readonly isOffline: boolean;
}

export interface GroupAggregates {
  /** Who belongs to a group is looked at anew; absent when it is gone. */
  groupChanged(key: ObjectKey, group: ClusterGroup | undefined, clusters: readonly Cluster[]): void;
  /** Where a cluster belongs is looked at anew; absent when it is gone. Tells the groups whose totals are others now. */
  clusterChanged(
    key: ObjectKey,
    cluster: Cluster | undefined,
    groups: readonly ClusterGroup[],
  ): readonly ObjectKey[];
  /** A cluster is counted anew where it belongs. Tells the groups whose totals are others now. */
  recount(cluster: Cluster): readonly ObjectKey[];
  of(key: ObjectKey): GroupAggregate;
}

interface MutableGroupAggregate extends GroupAggregate {
  readonly states: Record<BundleState, number>;
  total: number;
  readonly resources: Record<keyof ResourceCounts, number>;
  clusters: number;
  readonly unready: MutableSortedKeys;
  readonly offline: MutableSortedKeys;
  readonly deployments: Map<BundleState, MutableSortedKeys>;
}

interface Membership {
  readonly groups: Set<ObjectKey>;
  counted: Member;
}

export function createGroupAggregates(memberOf: (cluster: Cluster) => Member): GroupAggregates {
  const groups = new Map<ObjectKey, MutableGroupAggregate>();
  const memberships = new Map<ObjectKey, Membership>();

  function aggregateOf(group: ObjectKey): MutableGroupAggregate {
    const known = groups.get(group);
    if (known !== undefined) return known;
    const fresh = newAggregate();
    groups.set(group, fresh);
    return fresh;
  }

  function count(group: ObjectKey, cluster: ObjectKey, member: Member, by: 1 | -1): void {
    const tally = aggregateOf(group);
    tally.clusters += by;
    tally.total += member.total * by;
    for (const state of bundleStates) tally.states[state] += member.states[state] * by;
    addCounts(tally.resources, member.resources, by);
    const worst = worstOf(member.states);
    const keys = tally.deployments.get(worst) ?? createSortedKeys();
    tally.deployments.set(worst, keys);
    for (const [set, belongs] of [
      [keys, member.total > 0],
      [tally.unready, !member.isReady],
      [tally.offline, member.isOffline],
    ] as const) {
      if (!belongs) continue;
      if (by === 1) set.add(cluster);
      else set.delete(cluster);
    }
  }

  function membershipOf(key: ObjectKey, cluster: Cluster): Membership {
    const known = memberships.get(key);
    if (known !== undefined) return known;
    const fresh: Membership = { groups: new Set(), counted: memberOf(cluster) };
    memberships.set(key, fresh);
    return fresh;
  }

  function join(group: ObjectKey, cluster: ObjectKey, membership: Membership): void {
    if (membership.groups.has(group)) return;
    membership.groups.add(group);
    count(group, cluster, membership.counted, 1);
  }

  function leave(group: ObjectKey, cluster: ObjectKey, membership: Membership): void {
    if (!membership.groups.delete(group)) return;
    count(group, cluster, membership.counted, -1);
  }

  function recount(key: ObjectKey, cluster: Cluster, membership: Membership): readonly ObjectKey[] {
    const member = memberOf(cluster);
    if (isDeepStrictEqual(member, membership.counted)) return [];
    for (const group of membership.groups) {
      count(group, key, membership.counted, -1);
      count(group, key, member, 1);
    }
    membership.counted = member;
    return [...membership.groups];
  }

  return {
    groupChanged(key, group, clusters) {
      if (group === undefined) {
        for (const membership of memberships.values()) membership.groups.delete(key);
        groups.delete(key);
        return;
      }
      for (const cluster of clusters) {
        const clusterKey = keyOf(cluster);
        const membership = membershipOf(clusterKey, cluster);
        if (belongsTo(cluster, group)) join(key, clusterKey, membership);
        else leave(key, clusterKey, membership);
      }
    },
    clusterChanged(key, cluster, others) {
      const membership = cluster === undefined ? memberships.get(key) : membershipOf(key, cluster);
      if (membership === undefined) return [];
      const changed = new Set<ObjectKey>();
      for (const group of cluster === undefined ? [] : recount(key, cluster, membership))
        changed.add(group);
      const wanted = new Set(
        others.filter((group) => cluster !== undefined && belongsTo(cluster, group)).map(keyOf),
      );
      for (const group of membership.groups) {
        if (wanted.has(group)) continue;
        leave(group, key, membership);
        changed.add(group);
      }
      for (const group of wanted) {
        if (membership.groups.has(group)) continue;
        join(group, key, membership);
        changed.add(group);
      }
      if (cluster === undefined) memberships.delete(key);
      return [...changed];
    },
    recount(cluster) {
      const key = keyOf(cluster);
      const membership = memberships.get(key);
      return membership === undefined ? [] : recount(key, cluster, membership);
    },
    of: (key) => groups.get(key) ?? newAggregate(),
  };
}

/** As targets see it: a group without a selector has no members. */
function belongsTo({ metadata }: Cluster, { spec }: ClusterGroup): boolean {
  return spec.selector ? selects(spec.selector, metadata.labels ?? {}) : false;
}

function newAggregate(): MutableGroupAggregate {
  return {
    states: noStates(),
    total: 0,
    resources: noResources(),
    clusters: 0,
    unready: createSortedKeys(),
    offline: createSortedKeys(),
    deployments: new Map(),
  };
}
