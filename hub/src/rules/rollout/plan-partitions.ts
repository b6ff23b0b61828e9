/**
 * Which clusters of a Bundle with a rollout strategy get its revision now. It is decided by what is stored alone, so it may be asked
 * again at any time, by any leader. Pure; the numbers are Fleet's, except that clusters that are paused or offline take no place, unless
 * that happened while a revision was in flight there.
 */
import type { HoldReason, LimitReason, PauseReason } from "./hold.ts";
import {
  maxUnavailableOf,
  maxUnavailablePartitionsOf,
  type Partition,
  type Partitioned,
  type RolloutStrategy,
} from "./partitions.ts";

/** A cluster of the Bundle. */
export interface RolloutMember {
  /** The content of the revision. */
  readonly content: string;
  /** Absent: it has none yet. */
  readonly deployment?: RolloutDeployment | undefined;
  /** Why people hold it. */
  readonly pause?: PauseReason | undefined;
  /** Its agent is not connected. */
  readonly isOffline: boolean;
}

/** A BundleDeployment as rollouts see it; contents are "" where there is none. */
export interface RolloutDeployment {
  /** The content that was promoted last. */
  readonly desired: string;
  /** The content that its agent has applied. */
  readonly applied: string;
  readonly isReady: boolean;
}

export interface PartitionPlan {
  /** For each member; undefined: it gets the revision, or has it. */
  readonly holds: readonly (HoldReason | undefined)[];
  /** Whether any member gets the revision now. */
  readonly promotes: boolean;
  readonly partitions: readonly PartitionState[];
  /** Members that are unavailable, whichever partition they are in, and how many may be. */
  readonly unavailable: number;
  readonly maxUnavailable: number;
  /** Partitions of which more clusters are unavailable than allowed, and how many may be. */
  readonly unavailablePartitions: number;
  readonly maxUnavailablePartitions: number;
  /** Members in their first installation, and how many may be; undefined: any number. */
  readonly newlyCreated: number;
  readonly maxNew: number | undefined;
  /** Positions of members that no listed partition takes. */
  readonly unassigned: readonly number[];
}

/** After the step. */
export interface PartitionState {
  readonly name: string;
  readonly maxUnavailable: number;
  /** Members that do not have the revision, or are not ready, and take a place. */
  readonly unavailable: number;
  readonly counts: PartitionCounts;
}

/** Members by what they wait for. They add up to the size of the partition. */
export interface PartitionCounts {
  readonly total: number;
  /** They have the revision, and are ready. */
  readonly ready: number;
  /** The revision was promoted, and their agents have not applied it yet. */
  readonly waitApplied: number;
  /** They have the revision, and are not ready. */
  readonly notReady: number;
  /** They are held, and keep what they have. */
  readonly outOfSync: number;
  /** They are held, and have nothing. */
  readonly pending: number;
}

/** Whether a strategy may hold any of so many clusters. Otherwise everything is promoted at once, as without a strategy. */
export function isLimiting(
  strategy: RolloutStrategy,
  count: number,
  { partitions, unassigned }: Partitioned,
): boolean {
  return (
    (strategy.maxNew ?? undefined) !== undefined ||
    unassigned.length > 0 ||
    maxUnavailableOf(strategy, count) < count ||
    partitions.some(({ members, maxUnavailable }) => maxUnavailable < members.length)
  );
}

/**
 * Whether a strategy may hold anything in a fleet of so many clusters, whichever of them it reaches. Reports of agents then matter for
 * what is promoted next; otherwise they cost nothing.
 */
export function mayHold(strategy: RolloutStrategy | null | undefined, clusters: number): boolean {
  if (strategy === undefined || strategy === null) return false;
  return (
    (strategy.maxNew ?? undefined) !== undefined ||
    (strategy.partitions ?? []).length > 0 ||
    maxUnavailableOf(strategy, clusters) < clusters
  );
}

/** `members`: in the order of their names, as in `partitioned`. */
export function planPartitions(
  strategy: RolloutStrategy,
  members: readonly RolloutMember[],
  { partitions, unassigned }: Partitioned,
): PartitionPlan {
  const maxUnavailable = maxUnavailableOf(strategy, members.length);
  const maxUnavailablePartitions = maxUnavailablePartitionsOf(strategy, partitions.length);
  const maxNew = strategy.maxNew ?? undefined;
  const holds = new Map<number, HoldReason | undefined>();
  const promoted = new Set<number>();
  let unavailable = members.filter(takesPlace).length;
  let newlyCreated = members.filter(isInFirstInstallation).length;
  let unavailablePartitions = 0;

  /** The member is promoted, which takes a place unless it had one already. */
  function promote(position: number, places: Places): void {
    promoted.add(position);
    unavailable += 1;
    places.unavailable += 1;
  }

  function limitOn(position: number, places: Places): LimitReason | undefined {
    const member = members[position];
    if (member === undefined || member.deployment?.desired === member.content) return undefined;
    if (member.isOffline) return "offline";
    if (places.isAfterUnavailable) return "earlierPartition";
    if (isNew(member)) {
      // A first installation cannot make anything unavailable.
      if (maxNew !== undefined && newlyCreated >= maxNew) return "maxNew";
      newlyCreated += 1;
      promote(position, places);
      return undefined;
    }
    // What is unavailable has a place already, and may only get better.
    if (isUnavailable(member)) {
      promoted.add(position);
      return undefined;
    }
    if (unavailable >= maxUnavailable || places.unavailable >= places.maxUnavailable)
      return "maxUnavailable";
    promote(position, places);
    return undefined;
  }

  function takesPlaceNow(position: number): boolean {
    const member = members[position];
    return member !== undefined && (promoted.has(position) || takesPlace(member));
  }

  /** Clusters that have the revision and are ready take no place in the end. Others do, unless nobody can wait for them. */
  function isIncomplete(position: number): boolean {
    const member = members[position];
    if (member === undefined || isAside(member)) return false;
    return promoted.has(position) || !isDone(member);
  }

  for (const position of unassigned) holds.set(position, "unassigned");
  const states = partitions.map((partition): PartitionState => {
    const { name, members: own, maxUnavailable: allowed } = partition;
    const places: Places = {
      unavailable: own.filter(takesPlaceNow).length,
      maxUnavailable: allowed,
      isAfterUnavailable: unavailablePartitions > maxUnavailablePartitions,
    };
    for (const position of own)
      if (!holds.has(position))
        holds.set(position, members[position]?.pause ?? limitOn(position, places));
    const left = own.filter(isIncomplete).length;
    if (!places.isAfterUnavailable && left > allowed) unavailablePartitions += 1;
    return {
      name,
      maxUnavailable: allowed,
      unavailable: places.isAfterUnavailable ? own.filter(takesPlaceNow).length : left,
      counts: countMembers(partition, { members, holds, promoted }),
    };
  });
  return {
    holds: members.map((_, position) => holds.get(position)),
    promotes: promoted.size > 0,
    partitions: states,
    unavailable,
    maxUnavailable,
    unavailablePartitions,
    maxUnavailablePartitions,
    newlyCreated,
    maxNew,
    unassigned,
  };
}

/** The places of one partition. */
interface Places {
  unavailable: number;
  readonly maxUnavailable: number;
  /** More of the partitions before it are unavailable than allowed. */
  readonly isAfterUnavailable: boolean;
}

function isNew({ deployment }: RolloutMember): boolean {
  return deployment === undefined || deployment.desired === "";
}

/** As in Fleet: what was promoted last is not applied, or it is not ready. */
function isUnavailable({ deployment }: RolloutMember): boolean {
  if (deployment === undefined || deployment.desired === "") return false;
  return deployment.applied !== deployment.desired || !deployment.isReady;
}

/** Something was promoted there that is not confirmed to be ready. */
function isInFlight({ deployment, content }: RolloutMember): boolean {
  if (deployment === undefined || deployment.desired === "") return false;
  const { desired, applied, isReady } = deployment;
  return applied !== desired || (desired === content && !isReady);
}

/** It is paused or offline, and was so before anything was promoted there: nobody can wait for it. */
function isAside(member: RolloutMember): boolean {
  return (member.isOffline || member.pause !== undefined) && !isInFlight(member);
}

function takesPlace(member: RolloutMember): boolean {
  return isUnavailable(member) && !isAside(member);
}

function isInFirstInstallation({ deployment }: RolloutMember): boolean {
  return deployment !== undefined && deployment.desired !== "" && deployment.applied === "";
}

/** By its content: readiness of an earlier one says nothing. */
function isDone({ deployment, content }: RolloutMember): boolean {
  return deployment?.desired === content && deployment.applied === content && deployment.isReady;
}

interface Step {
  readonly members: readonly RolloutMember[];
  readonly holds: ReadonlyMap<number, HoldReason | undefined>;
  readonly promoted: ReadonlySet<number>;
}

function countMembers({ members: own }: Partition, step: Step): PartitionCounts {
  const counts = { ready: 0, waitApplied: 0, notReady: 0, outOfSync: 0, pending: 0 };
  for (const position of own) {
    const member = step.members[position];
    if (member === undefined) continue;
    counts[waitsFor(member, position, step)] += 1;
  }
  return { total: own.length, ...counts };
}

function waitsFor(
  member: RolloutMember,
  position: number,
  { holds, promoted }: Step,
): Exclude<keyof PartitionCounts, "total"> {
  if (isDone(member)) return "ready";
  if (promoted.has(position)) return "waitApplied";
  const { deployment, content } = member;
  if (deployment?.desired !== content && holds.get(position) !== undefined)
    return isNew(member) ? "pending" : "outOfSync";
  return deployment?.applied === content ? "notReady" : "waitApplied";
}
