/**
 * The partitions of a rollout: clusters that are updated together, before the clusters of the next one. They are listed in the strategy, or
 * made from many clusters in the order of their names. Pure; the rules are Fleet's.
 */
import type { BundleSpec, ClusterGroup } from "@flotilla/shared/api";
import type { TimeSlices } from "@flotilla/shared/concurrency";
import { type TargetCluster, targetsFor, toTargetGroup } from "../targeting/match.ts";
import { limitOf } from "./limit.ts";

export type RolloutStrategy = NonNullable<BundleSpec["rolloutStrategy"]>;

export interface Partition {
  /** As in the status. */
  readonly name: string;
  /** Positions of its clusters, in the order of their names. */
  readonly members: readonly number[];
  /** How many of them may be unavailable. */
  readonly maxUnavailable: number;
}

export interface Partitioned {
  readonly partitions: readonly Partition[];
  /** Positions of clusters that no listed partition takes. */
  readonly unassigned: readonly number[];
}

const defaultMaxUnavailable = "100%";
const defaultSize = "25%";
const defaultThreshold = 200;

/** Whether there is anything in a strategy. */
export function isStrategy(
  strategy: RolloutStrategy | null | undefined,
): strategy is RolloutStrategy {
  return Object.values(strategy ?? {}).some((value) => value !== undefined && value !== null);
}

/** How many clusters of a Bundle may be unavailable. An invalid limit allows none: it is not accepted in the first place. */
export function maxUnavailableOf({ maxUnavailable }: RolloutStrategy, count: number): number {
  return limitOf(maxUnavailable, count, defaultMaxUnavailable) ?? 0;
}

/** How many partitions may be unavailable before later ones are left as they are. */
export function maxUnavailablePartitionsOf(
  { maxUnavailablePartitions }: RolloutStrategy,
  count: number,
): number {
  return limitOf(maxUnavailablePartitions, count, 0) ?? 0;
}

/**
 * `count`: the number of clusters, `listed`: for each listed partition the positions of those that it matches. A cluster may be in
 * several listed partitions.
 */
export function partitionsOf(
  strategy: RolloutStrategy,
  count: number,
  listed: readonly (readonly number[])[],
): Partitioned {
  const own = strategy.partitions ?? [];
  if (own.length === 0) return { partitions: automatic(strategy, count), unassigned: [] };
  const partitions = own.map(({ name, maxUnavailable }, index) => {
    const members = listed[index] ?? [];
    const limit = limitOf(
      maxUnavailable ?? strategy.maxUnavailable,
      members.length,
      defaultMaxUnavailable,
    );
    return { name: name || `partition ${index + 1}`, members, maxUnavailable: limit ?? 0 };
  });
  const taken = new Set(listed.flat());
  const unassigned = positions(0, count).filter((position) => !taken.has(position));
  return { partitions, unassigned };
}

/** For each listed partition the positions of the clusters that it matches. With pauses: clusters times groups may be many. */
export async function listedMembers(
  strategy: RolloutStrategy,
  clusters: readonly TargetCluster[],
  groups: readonly ClusterGroup[],
  slices: TimeSlices,
): Promise<readonly (readonly number[])[]> {
  const listed = (strategy.partitions ?? []).map((criteria) => {
    const members: number[] = [];
    return { targeting: { targets: [criteria] }, members };
  });
  if (listed.length === 0) return [];
  const targetGroups = groups.map(toTargetGroup);
  for (const [position, cluster] of clusters.entries()) {
    const targetOf = await targetsFor(cluster, targetGroups, slices);
    for (const { targeting, members } of listed)
      if ((await targetOf(targeting)).length > 0) members.push(position);
    if (slices.isOver) await slices.pause();
  }
  return listed.map(({ members }) => members);
}

function automatic(strategy: RolloutStrategy, count: number): readonly Partition[] {
  const { autoPartitionSize, autoPartitionThreshold } = strategy;
  const threshold = autoPartitionThreshold ?? defaultThreshold;
  const isOff = typeof autoPartitionSize === "number" && autoPartitionSize <= 0;
  if (isOff || threshold <= 0 || count < threshold)
    return [ofAll(strategy, "All", positions(0, count))];
  const size = limitOf(autoPartitionSize, count, defaultSize) ?? 1;
  const partitions: Partition[] = [];
  for (let from = 0; from < count; from += size) {
    const to = Math.min(from + size, count);
    partitions.push(ofAll(strategy, `Partition ${from} - ${to}`, positions(from, to)));
  }
  return partitions;
}

function ofAll(strategy: RolloutStrategy, name: string, members: readonly number[]): Partition {
  return { name, members, maxUnavailable: maxUnavailableOf(strategy, members.length) };
}

/** From `from` up to `to`, which is not one of them. */
function positions(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
