/** What a Bundle's status and its conditions say of a rollout with limits: Fleet's fields, and sentences for people. Pure. */
import { type BundleStatus, maxListed } from "@flotilla/shared/api";
import type { HoldReason } from "./hold.ts";
import type { RolloutStrategy } from "./partitions.ts";
import type { PartitionPlan, PartitionState } from "./plan-partitions.ts";

/** Partitions that a status lists: from the first that is not completed, when there are more. */
const maxPartitions = 100;

/** The fields of a Bundle's status that exist while its strategy may hold something. */
export type RolloutFields = Pick<
  BundleStatus,
  | "partitions"
  | "unavailable"
  | "maxUnavailable"
  | "unavailablePartitions"
  | "maxUnavailablePartitions"
  | "newlyCreated"
  | "maxNew"
>;

export function rolloutFields(plan: PartitionPlan): RolloutFields {
  return {
    partitions: listedPartitions(plan.partitions).map(partitionStatus),
    unavailable: plan.unavailable,
    maxUnavailable: plan.maxUnavailable,
    unavailablePartitions: plan.unavailablePartitions,
    maxUnavailablePartitions: plan.maxUnavailablePartitions,
    newlyCreated: plan.newlyCreated,
    ...(plan.maxNew !== undefined && { maxNew: plan.maxNew }),
  };
}

function listedPartitions(partitions: readonly PartitionState[]): readonly PartitionState[] {
  if (partitions.length <= maxPartitions) return partitions;
  const open = partitions.findIndex(({ counts }) => counts.ready < counts.total);
  const from = Math.min(Math.max(0, open), partitions.length - maxPartitions);
  return partitions.slice(from, from + maxPartitions);
}

type PartitionStatus = NonNullable<BundleStatus["partitions"]>[number];

function partitionStatus({
  name,
  maxUnavailable,
  unavailable,
  counts,
}: PartitionState): PartitionStatus {
  const { total, ready, ...others } = counts;
  const present = Object.entries(others).filter(([, count]) => count > 0);
  return {
    name,
    count: total,
    maxUnavailable,
    unavailable,
    summary: { desiredReady: total, ready, ...Object.fromEntries(present) },
  };
}

/** The clusters of a rollout with limits. */
export interface RolloutClusters {
  /** In the order of the members. */
  readonly names: readonly string[];
  /** For each listed partition the positions of those that it matches. */
  readonly listed: readonly (readonly number[])[];
}

/**
 * Remarks of the condition Accepted: what a strategy leaves out or takes twice, and what it never updates. `plan`: undefined while it
 * lets everything through.
 */
export function rolloutRemarks(
  strategy: RolloutStrategy,
  plan: PartitionPlan | undefined,
  { names, listed }: RolloutClusters,
): readonly string[] {
  const field = "spec.rolloutStrategy";
  const namesWith = (holds: readonly HoldReason[]) =>
    names.filter((_, position) => {
      const hold = plan?.holds[position];
      return hold !== undefined && holds.includes(hold);
    });
  const unassigned = namesWith(["unassigned"]);
  const paused = namesWith(["clusterPaused", "suspended"]);
  return [
    ...(unassigned.length === 0
      ? []
      : [`none of ${field}.partitions takes ${someOf(unassigned)}: nothing is deployed there`]),
    ...overlapRemarks(`${field}.partitions`, { names, listed }),
    ...(strategy.maxUnavailable === 0
      ? [`${field}.maxUnavailable is 0: clusters that are available are never updated`]
      : []),
    ...(strategy.partitions ?? []).flatMap(({ maxUnavailable }, index) =>
      maxUnavailable === 0
        ? [
            `${field}.partitions[${index}].maxUnavailable is 0: its clusters that are available are never updated`,
          ]
        : [],
    ),
    ...(strategy.maxNew !== null && strategy.maxNew !== undefined && strategy.maxNew <= 0
      ? [`${field}.maxNew is ${strategy.maxNew}: nothing is installed in new clusters`]
      : []),
    ...(paused.length === 0
      ? []
      : [
          `${someOf(paused)} ${paused.length === 1 ? "is" : "are"} paused: the rollout goes on past ${paused.length === 1 ? "it" : "them"}`,
        ]),
  ];
}

/** One for the first partition that takes clusters of an earlier one. */
function overlapRemarks(field: string, { names, listed }: RolloutClusters): readonly string[] {
  const firstOf = new Map<number, number>();
  for (const [index, members] of listed.entries()) {
    const taken = members.filter((position) => firstOf.has(position));
    const earlier = firstOf.get(taken[0] ?? -1);
    if (earlier !== undefined) {
      const both = taken.filter((position) => firstOf.get(position) === earlier);
      const clusters = someOf(both.flatMap((position) => names[position] ?? []));
      const [they, count] = both.length === 1 ? ["it is", "counts"] : ["they are", "count"];
      return [
        `${field}[${earlier}] and ${field}[${index}] take ${clusters}: ${they} updated with the first and ${count} in both; narrow one of them if that is not meant`,
      ];
    }
    for (const position of members) firstOf.set(position, index);
  }
  return [];
}

/** `2 clusters: a, b`, ten of them at most. */
function someOf(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).join(", ");
  const more = names.length > maxListed ? ", …" : "";
  return names.length === 1 ? `the cluster ${shown}` : `${names.length} clusters (${shown}${more})`;
}

/** What a rollout with limits waits for, for the message of Ready; undefined: nothing is held. */
export function rolloutWaitText(status: RolloutFields): string | undefined {
  const partitions = status.partitions ?? [];
  const held = partitions.findIndex((each) => heldIn(each) > 0);
  const partition = partitions[held];
  if (partition === undefined) return undefined;
  const all = partitions.reduce((sum, each) => sum + heldIn(each), 0);
  const what = `rollout: ${all} ${all === 1 ? "cluster waits" : "clusters wait"} for their turn`;
  return `${what}, ${reasonOf(status, partition, partitions.slice(0, held))}`;
}

function reasonOf(
  status: RolloutFields,
  partition: PartitionStatus,
  earlier: readonly PartitionStatus[],
): string {
  const { name, maxUnavailable = 0 } = partition;
  const { unavailablePartitions = 0, maxUnavailablePartitions = 0 } = status;
  const open = earlier.filter((each) => (each.unavailable ?? 0) > (each.maxUnavailable ?? 0));
  const [first] = open;
  if (first !== undefined && unavailablePartitions > maxUnavailablePartitions)
    return `partition ${name} until at most ${first.maxUnavailable} of ${first.count} clusters of partition ${first.name} are not updated and ready (${first.unavailable} now)`;
  if (status.maxUnavailable === 0) return "and maxUnavailable is 0";
  if (maxUnavailable === 0) return `and maxUnavailable of partition ${name} is 0`;
  const { newlyCreated = 0, maxNew, unavailable: ofBundle = 0 } = status;
  if (maxNew !== undefined && (partition.summary?.pending ?? 0) > 0 && newlyCreated >= maxNew)
    return `${newlyCreated} are being installed for the first time, and maxNew is ${maxNew}`;
  const taken = (partition.summary?.waitApplied ?? 0) + (partition.summary?.notReady ?? 0);
  if (ofBundle >= (status.maxUnavailable ?? 0))
    return `${ofBundle} are unavailable, and maxUnavailable is ${status.maxUnavailable}`;
  if (taken >= maxUnavailable)
    return `partition ${name} has as many unavailable clusters as its maxUnavailable allows, ${maxUnavailable}`;
  return `the clusters of partition ${name} are offline or paused`;
}

function heldIn({ summary }: PartitionStatus): number {
  return (summary?.outOfSync ?? 0) + (summary?.pending ?? 0);
}
