/**
 * Whether the hub may run, by the Leases of Fleet's controllers, which use the same objects. Pure. A Lease that exists
 * closes the hub whether it is renewed or not: Fleet may be restarting, and a restarted hub decides as it did before. Clocks
 * are never compared: a Lease is renewed for its duration, by the monotonic clock, since its last observed renewal, and the
 * first look counts as one.
 */
import { durationMsOf, holderOf } from "@flotilla/shared/kube/leaderelection";
import type { Lease } from "@flotilla/shared/kube/objects";

/** What was observed of one Lease. */
export interface FleetLease {
  /** Undefined while it does not exist. */
  readonly lease: Lease | undefined;
  /** Its last observed renewal; of a deleted Lease, too, whose holder creates it again. */
  readonly renewal?: { readonly lease: Lease; readonly at: number };
}

export type FleetDecision =
  /** None of its Leases exists. */
  | { readonly kind: "absent" }
  /** Its Leases have expired, and the hub is to take over. */
  | { readonly kind: "takenOver" }
  /** `untilMs`: how long until the Lease expires if it is not renewed. */
  | { readonly kind: "running"; readonly lease: Lease; readonly untilMs: number }
  /** A Lease has expired, and nobody said that the hub is to take over. */
  | { readonly kind: "stopped"; readonly lease: Lease };

/** For a Lease that names no duration; client-go's default. */
const defaultDurationMs = 15_000;

/** The observation after `lease` was seen at `at`. Only its holder and its renewal count, not labels and annotations. */
export function observe(
  before: FleetLease | undefined,
  lease: Lease | undefined,
  at: number,
): FleetLease {
  // Released: its holder has ended.
  if (lease !== undefined && holderOf(lease) === undefined) return { lease };
  if (lease === undefined) return { ...before, lease: undefined };
  const known = before?.renewal;
  const isKnown =
    known !== undefined &&
    holderOf(known.lease) === holderOf(lease) &&
    known.lease.spec?.renewTime === lease.spec?.renewTime;
  return { lease, renewal: isKnown ? known : { lease, at } };
}

/** `now`: on the monotonic clock. */
export function decide(
  leases: readonly FleetLease[],
  { takeOver, now }: { readonly takeOver: boolean; readonly now: number },
): FleetDecision {
  for (const { renewal } of leases) {
    if (renewal === undefined) continue;
    const untilMs = renewal.at + durationMsOf(renewal.lease, defaultDurationMs) - now;
    if (untilMs > 0) return { kind: "running", lease: renewal.lease, untilMs };
  }
  const expired = leases.map(({ lease }) => lease).find((lease) => lease !== undefined);
  if (expired === undefined) return { kind: "absent" };
  return takeOver ? { kind: "takenOver" } : { kind: "stopped", lease: expired };
}
