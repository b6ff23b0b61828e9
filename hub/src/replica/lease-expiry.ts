/**
 * Whether a replica that says nothing is gone, by our own monotonic clock since its Lease changed last. Pure.
 *
 * That nothing was heard means something only while we could have heard: our own renewals, which come back by the same
 * watch, show that. So neither an API server that was away nor a process that was frozen makes others look dead.
 */
import type { ReplicaLeaseTimes } from "./lease.ts";

export interface LeaseObservation {
  /** All on the monotonic clock. */
  readonly now: number;
  /** When its Lease was last seen to change; absent where none was ever there. */
  readonly heardAt: number | undefined;
  /** When our own Lease was last seen to change. */
  readonly echoAt: number | undefined;
  /** Since when we could have heard without a gap. */
  readonly listeningSince: number | undefined;
}

export type LeaseExpiry =
  | { readonly kind: "gone"; readonly forMs: number }
  /** Nothing can be said before. */
  | { readonly kind: "unknown"; readonly waitMs: number };

export function leaseExpiryOf(evidence: LeaseObservation, times: ReplicaLeaseTimes): LeaseExpiry {
  const { now, heardAt, echoAt, listeningSince } = evidence;
  if (echoAt === undefined || listeningSince === undefined || now - echoAt > longestGapMs(times))
    return { kind: "unknown", waitMs: times.renewEveryMs };
  const from = Math.max(heardAt ?? listeningSince, listeningSince);
  const waitMs = from + times.goneAfterMs - now;
  return waitMs > 0 ? { kind: "unknown", waitMs } : { kind: "gone", forMs: now - from };
}

/** Between two of our own renewals; after a longer one everybody is given the whole time anew. */
export function longestGapMs({ renewEveryMs }: ReplicaLeaseTimes): number {
  return 2 * renewEveryMs;
}
