/** Whether what a Cluster says of its agent is right, as far as one replica of the hub may tell. Pure. */
import type { ClusterAgent } from "@flotilla/shared/api/cluster.ts";

export type PresenceDecision =
  | { readonly kind: "right" }
  | { readonly kind: "gone" }
  /** It is there, and somebody took this replica for dead. */
  | { readonly kind: "there" }
  /** It may come back. */
  | { readonly kind: "wait"; readonly ms: number };

export interface PresenceInput {
  /** What the Cluster's status says. */
  readonly agent: ClusterAgent | undefined;
  /** The epoch of the stream that this process holds, where it holds one. */
  readonly heldEpoch: number | undefined;
  /** The last stream of the cluster that this process held and that has ended, and how long ago that was. */
  readonly ended: { readonly epoch: number; readonly forMs: number } | undefined;
  /** Whether a newer stream of the cluster has begun here and its arrival is not written yet. */
  readonly isComing: boolean;
  readonly replica: string;
  /** Whether others count on this replica: otherwise whoever leads speaks for its agents. */
  readonly isCountedOn: boolean;
  readonly upForMs: number;
  /** How long agents get to come back after a start. */
  readonly graceMs: number;
  /** How long an agent gets to come back when its stream has ended. */
  readonly settleMs: number;
}

export function decidePresence(evidence: PresenceInput): PresenceDecision {
  const verdict = judgeStream(evidence);
  const isToBeWritten = verdict.kind === "gone" || verdict.kind === "there";
  return isToBeWritten && !evidence.isCountedOn ? { kind: "wait", ms: evidence.settleMs } : verdict;
}

function judgeStream(evidence: PresenceInput): PresenceDecision {
  const { agent, heldEpoch, ended, replica, upForMs, graceMs, settleMs } = evidence;
  if (agent === undefined || agent.replica !== replica) return { kind: "right" };
  if (heldEpoch !== undefined)
    return agent.connected !== true && agent.epoch === heldEpoch
      ? { kind: "there" }
      : { kind: "right" };
  if (agent.connected !== true || evidence.isComing) return { kind: "right" };
  // Only what this very process saw ending is known to have ended.
  const [sinceMs, untilMs] =
    ended !== undefined && agent.epoch === ended.epoch
      ? [ended.forMs, settleMs]
      : [upForMs, graceMs];
  return sinceMs < untilMs ? { kind: "wait", ms: untilMs - sinceMs } : { kind: "gone" };
}
