/** Reads and builds Lease objects. Pure. */

import { formatMicroTime } from "../../runtime/time/index.ts";
import type { Lease, ObjectRef } from "../objects/index.ts";

export interface LeaseClaim {
  readonly identity: string;
  /** Wall time, for people: nothing is decided by it. */
  readonly nowMs: number;
  readonly leaseDurationMs: number;
}

/** The identity of the holder; `undefined` for none. */
export function holderOf(lease: Lease | undefined): string | undefined {
  const holder = lease?.spec?.holderIdentity;
  return holder === undefined || holder === "" ? undefined : holder;
}

export function newLease(ref: Required<ObjectRef>, claim: LeaseClaim): Lease {
  const now = formatMicroTime(claim.nowMs);
  return {
    metadata: { ...ref },
    spec: {
      holderIdentity: claim.identity,
      leaseDurationSeconds: Math.ceil(claim.leaseDurationMs / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    },
  };
}

/** The Lease with another holder. */
export function acquiredLease(lease: Lease, claim: LeaseClaim): Lease {
  const now = formatMicroTime(claim.nowMs);
  return {
    ...lease,
    spec: {
      ...lease.spec,
      holderIdentity: claim.identity,
      leaseDurationSeconds: Math.ceil(claim.leaseDurationMs / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1,
    },
  };
}

export function renewedLease(lease: Lease, nowMs: number): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: formatMicroTime(nowMs) } };
}

/** Both have to be written by the same holder. */
export function isRenewedBefore(lease: Lease, other: Lease): boolean {
  return Date.parse(lease.spec?.renewTime ?? "") < Date.parse(other.spec?.renewTime ?? "");
}

/** Without a holder: the next candidate need not wait. */
export function releasedLease(lease: Lease, nowMs: number): Lease {
  return {
    ...lease,
    spec: {
      ...lease.spec,
      holderIdentity: "",
      leaseDurationSeconds: 1,
      renewTime: formatMicroTime(nowMs),
    },
  };
}

/** How long after its last renewal others may acquire the Lease; `otherwise` where the Lease does not say. */
export function durationMsOf(lease: Lease, otherwise: number): number {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds === undefined || seconds <= 0 ? otherwise : seconds * 1000;
}
