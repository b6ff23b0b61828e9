/** Whether the presence recorded in a Cluster's status is correct, as far as one replica of the hub may decide it. Pure. */
import type { ClusterAgent } from "@flotilla/shared/api";

export type PresenceDecision =
  | { readonly kind: "correct" }
  /** The agent is offline. */
  | { readonly kind: "offline" }
  /** The agent is connected; the leader recorded this replica as dead. */
  | { readonly kind: "connected" }
  /** The agent may still reconnect. */
  | { readonly kind: "wait"; readonly ms: number };

export interface PresenceInput {
  /** From the Cluster's status. */
  readonly agent: ClusterAgent | undefined;
  /** The epoch of the stream that is connected to this process. */
  readonly connectedEpoch: number | undefined;
  /** The last stream of the cluster that was connected to this process and has ended. */
  readonly ended: { readonly epoch: number; readonly forMs: number } | undefined;
  /** Whether a stream of the cluster is open here, also one whose connection is not recorded yet. */
  readonly hasOpenStream: boolean;
  readonly replica: string;
  /** Whether this replica holds its Lease; without it the leader decides about its agents. */
  readonly isLeaseHeld: boolean;
  readonly upForMs: number;
  /** Since the last agent connected, or since the start. */
  readonly returnedForMs: number;
  /** How long agents get to reconnect after a start. */
  readonly graceMs: number;
  /** How long an agent gets to reconnect when its stream has ended. */
  readonly settleMs: number;
}

/** Agents that connect all the time must not hide one that is gone. */
const longestReturnMs = 10 * 60_000;

export function decidePresence(input: PresenceInput): PresenceDecision {
  const decision = decideByStreams(input);
  const isWrite = decision.kind === "offline" || decision.kind === "connected";
  return isWrite && !input.isLeaseHeld ? { kind: "wait", ms: input.settleMs } : decision;
}

function decideByStreams(input: PresenceInput): PresenceDecision {
  const { agent, connectedEpoch, ended, replica, settleMs } = input;
  if (agent === undefined || agent.replica !== replica) return { kind: "correct" };
  if (connectedEpoch !== undefined)
    return agent.connected !== true && (agent.epoch ?? 0) <= connectedEpoch
      ? { kind: "connected" }
      : { kind: "correct" };
  if (agent.connected !== true || input.hasOpenStream) return { kind: "correct" };
  // Only for a stream that ended in this process is the end certain.
  const waitMs =
    ended !== undefined && (agent.epoch ?? 0) <= ended.epoch
      ? settleMs - ended.forMs
      : returnWaitMs(input);
  return waitMs > 0 ? { kind: "wait", ms: waitMs } : { kind: "offline" };
}

/** While agents return one after the other, the silence of those that follow says nothing. */
function returnWaitMs({ upForMs, returnedForMs, graceMs }: PresenceInput): number {
  const whileReturningMs = Math.min(graceMs / 2 - returnedForMs, longestReturnMs - upForMs);
  return Math.max(graceMs - upForMs, whileReturningMs);
}
