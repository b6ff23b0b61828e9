/** Whether a Cluster that is recorded as connected still is. Pure. */
import type { ClusterAgent } from "@flotilla/shared/api/cluster.ts";

export type PresenceVerdict =
  | { readonly kind: "right" }
  | { readonly kind: "gone" }
  /** It may come back to this process, which has only just started. */
  | { readonly kind: "wait"; readonly ms: number };

export interface PresenceEvidence {
  /** What the Cluster's status says. */
  readonly agent: ClusterAgent | undefined;
  /** The epoch of the stream that this process holds, where it holds one. */
  readonly heldEpoch: number | undefined;
  /** The epoch of the last stream of the cluster that this process held and that has ended. */
  readonly endedEpoch: number | undefined;
  readonly replica: string;
  /** Whether another replica's agents are to be looked after because it is no longer there. */
  readonly isGone: (replica: string) => boolean;
  readonly upForMs: number;
  /** How long agents get to come back after a start. */
  readonly graceMs: number;
}

export function judgePresence(evidence: PresenceEvidence): PresenceVerdict {
  const { agent, heldEpoch, endedEpoch, replica, isGone, upForMs, graceMs } = evidence;
  if (agent?.connected !== true || heldEpoch !== undefined) return { kind: "right" };
  const isOurs = agent.replica === replica;
  if (!isOurs && !isGone(agent.replica ?? "")) return { kind: "right" };
  // Only what this very process saw ending is known to have ended.
  if (isOurs && agent.epoch === endedEpoch) return { kind: "gone" };
  return upForMs < graceMs ? { kind: "wait", ms: graceMs - upForMs } : { kind: "gone" };
}
