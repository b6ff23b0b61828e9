/** What a Lease says, and what to write into it: pure. */

import { formatMicroTime } from "../../time/rfc3339.ts";
import type { Lease } from "../objects/core-resources.ts";
import type { ObjectRef } from "../objects/object.ts";

export interface LeaseClaim {
  readonly identity: string;
  /** Wall time, for people to read; nothing is decided by it. */
  readonly nowMs: number;
  readonly leaseDurationMs: number;
}

/** Who holds the lease; `undefined` for nobody. */
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

/** The lease taken over from whoever had it. */
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

/** Both written by the same holder. */
export function isRenewedBefore(lease: Lease, other: Lease): boolean {
  return Date.parse(lease.spec?.renewTime ?? "") < Date.parse(other.spec?.renewTime ?? "");
}

/** Nobody's: the next one need not wait. */
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

/** How long the holder may go without renewing before others take the lease. */
export function durationMsOf(lease: Lease, otherwise: number): number {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds === undefined || seconds <= 0 ? otherwise : seconds * 1000;
}
