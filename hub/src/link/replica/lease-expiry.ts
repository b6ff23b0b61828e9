/**
 * Whether the Lease of a replica has expired, by the local monotonic clock since its last observed change. Pure. Time
 * counts only while the watch works, which the renewals of our own Lease show, because they arrive on the same watch.
 * So neither an unavailable API server nor a frozen process makes other replicas seem dead.
 */
import type { ReplicaLeaseTimes } from "./lease.ts";

export interface LeaseObservation {
  /** All on the monotonic clock. */
  readonly now: number;
  /** When its Lease was last observed to change; undefined if it never was. */
  readonly observedAt: number | undefined;
  /** When our own Lease was last observed to change. */
  readonly ownObservedAt: number | undefined;
  /** Since when the watch has worked without a gap. */
  readonly watchingSince: number | undefined;
}

export type LeaseExpiry =
  | { readonly kind: "expired"; readonly forMs: number }
  /** Not before `waitMs`. */
  | { readonly kind: "unknown"; readonly waitMs: number };

export function leaseExpiryOf(
  observation: LeaseObservation,
  times: ReplicaLeaseTimes,
): LeaseExpiry {
  const { now, observedAt, ownObservedAt, watchingSince } = observation;
  if (
    ownObservedAt === undefined ||
    watchingSince === undefined ||
    now - ownObservedAt > longestGapMs(times)
  )
    return { kind: "unknown", waitMs: times.renewEveryMs };
  const from = Math.max(observedAt ?? watchingSince, watchingSince);
  const waitMs = from + times.expireAfterMs - now;
  return waitMs > 0 ? { kind: "unknown", waitMs } : { kind: "expired", forMs: now - from };
}

/** Between two of our own renewals; after a longer gap every replica gets the whole time again. */
export function longestGapMs({ renewEveryMs }: ReplicaLeaseTimes): number {
  return 2 * renewEveryMs;
}
