/**
 * Aggregates over the clusters of each ClusterGroup. A report changes a few numbers of the groups that its cluster
 * belongs to; membership is computed only when labels or selectors change.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type BundleState,
  bundleStates,
  type Cluster,
  type ClusterGroup,
  type ResourceCounts,
  selects,
} from "@flotilla/shared/api";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { type Aggregate, addCounts, noResources, noStates, worstOf } from "./bundle-aggregate.ts";
import { createSortedKeys, type MutableSortedKeys, type SortedKeys } from "./sorted-keys.ts";

export interface GroupAggregate extends Pick<Aggregate, "states" | "total" | "resources"> {
  readonly clusters: number;
  /** Keys of the clusters that need attention. */
  readonly unready: SortedKeys;
  /** Keys of the offline clusters. */
  readonly offline: SortedKeys;
  /** Keys of the clusters by the worst state of what they run. */
  readonly deployments: ReadonlyMap<BundleState, SortedKeys>;
}

/** What one cluster counts for; a copy, since aggregates change. */
export interface Member {
  readonly states: Readonly<Record<BundleState, number>>;
  readonly total: number;
  readonly resources: ResourceCounts;
  /** Whether it needs no attention: its agent is connected and all deployments are ready. */
  readonly isReady: boolean;
  readonly isOffline: boolean;
}

export interface GroupAggregates {
  /** Computes the members of a group; undefined after its deletion. */
  groupChanged(key: ObjectKey, group: ClusterGroup | undefined, clusters: readonly Cluster[]): void;
  /** Computes the groups of a cluster; undefined after its deletion. Returns the groups whose aggregates changed. */
  clusterChanged(
    key: ObjectKey,
    cluster: Cluster | undefined,
    groups: readonly ClusterGroup[],
  ): readonly ObjectKey[];
  /** Counts a cluster again in its groups. Returns the groups whose aggregates changed. */
  recount(cluster: Cluster): readonly ObjectKey[];
  of(key: ObjectKey): GroupAggregate;
  /** Those that a cluster counts in. */
  groupsOf(cluster: ObjectKey): readonly ObjectKey[];
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
    const aggregate = aggregateOf(group);
    aggregate.clusters += by;
    aggregate.total += member.total * by;
    for (const state of bundleStates) aggregate.states[state] += member.states[state] * by;
    addCounts(aggregate.resources, member.resources, by);
    const worst = worstOf(member.states);
    const keys = aggregate.deployments.get(worst) ?? createSortedKeys();
    aggregate.deployments.set(worst, keys);
    for (const [set, belongs] of [
      [keys, member.total > 0],
      [aggregate.unready, !member.isReady],
      [aggregate.offline, member.isOffline],
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
      const desired = new Set(
        others.filter((group) => cluster !== undefined && belongsTo(cluster, group)).map(keyOf),
      );
      for (const group of membership.groups) {
        if (desired.has(group)) continue;
        leave(group, key, membership);
        changed.add(group);
      }
      for (const group of desired) {
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
    groupsOf: (cluster) => [...(memberships.get(cluster)?.groups ?? [])],
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
