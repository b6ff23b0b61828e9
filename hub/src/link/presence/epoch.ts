/**
 * Epochs of streams. Pure. Of two streams of one cluster, on any replicas, one has the higher epoch, and its reports are the
 * newer ones. An epoch is recorded in the Cluster, which is a write for each connection. A replica that restarts under its own
 * name, with thousands of agents that its Clusters already show as connected to it, records one epoch for all of them
 * instead, in its Lease and before it accepts the first: the floor. Such a Cluster is not written; its epoch is the floor.
 */
import type { Cluster, ClusterAgent } from "@flotilla/shared/api";

/** The floor of a replica; 0 when it has none. */
export type EpochFloorOf = (replica: string) => number;

export interface NewStream {
  /** In the status of its Cluster. */
  readonly recorded: ClusterAgent | undefined;
  /** The highest epoch of its stored reports: also above the recorded one, when a backup was restored that reset the Cluster. */
  readonly reportedEpoch: number;
  /** The epoch of a stream of the cluster that is connected to this process; 0 for none. */
  readonly connectedEpoch: number;
}

/** The epoch of the last stream of a Cluster. */
export function recordedEpoch(recorded: ClusterAgent | undefined, floorOf: EpochFloorOf): number {
  return Math.max(recorded?.epoch ?? 0, floorOf(recorded?.replica ?? ""));
}

/** Above every earlier one. */
export function nextEpoch(stream: NewStream, floorOf: EpochFloorOf): number {
  const { recorded, reportedEpoch, connectedEpoch } = stream;
  return Math.max(recordedEpoch(recorded, floorOf), reportedEpoch, connectedEpoch) + 1;
}

/** Whether a stream gets the floor of the replica, because its Cluster shows this replica since before it started. */
export function isBelowFloor(stream: NewStream, replica: string, floor: number): boolean {
  const { recorded, reportedEpoch, connectedEpoch } = stream;
  return (
    recorded?.connected === true &&
    recorded.replica === replica &&
    Math.max(recorded.epoch ?? 0, reportedEpoch, connectedEpoch) < floor
  );
}

/** The highest recorded epoch of the agents that are shown as connected to a replica; 0 when there are none. */
export function highestEpoch(clusters: readonly Cluster[], replica: string): number {
  return clusters.reduce((highest, { status }) => {
    const agent = status?.agent;
    const isHere = agent?.connected === true && agent.replica === replica;
    return isHere ? Math.max(highest, agent.epoch ?? 0) : highest;
  }, 0);
}
