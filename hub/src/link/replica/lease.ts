/**
 * The Lease by which a replica of the hub shows that it is alive, and its agents with it. Pure. An agent can take 18 s
 * to notice that its replica does not respond, before it connects to another one; no agent may be recorded as offline
 * before that. The last renewal is at most 6 s older than a kill, so a Lease expires 20 to 26 s after it.
 */
import { createHash } from "node:crypto";
import {
  epochFloorAnnotation,
  hubReplicaLabel,
  hubVersionAnnotation,
  replicaAddressAnnotation,
} from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import {
  acquiredLease,
  type LeaseClaim,
  newLease,
  releasedLease,
} from "@flotilla/shared/kube/leaderelection";
import type { Lease, ObjectRef } from "@flotilla/shared/kube/objects";

export interface ReplicaLeaseTimes {
  readonly renewEveryMs: number;
  /** Without a renewal for this long the Lease has expired. */
  readonly expireAfterMs: number;
}

export const replicaLeaseTimes: ReplicaLeaseTimes = { renewEveryMs: 6_000, expireAfterMs: 26_000 };

/** The name of a replica may be any text. */
export function replicaLeaseName(replica: string): string {
  const prefix = "flotilla-hub-replica-";
  const isPlain = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(replica) && replica.length <= 63;
  return `${prefix}${isPlain ? replica : createHash("sha256").update(replica).digest("hex").slice(0, 16)}`;
}

/** The name of the replica whose Lease it is. */
export function replicaOf({ metadata }: Lease): string {
  return metadata.annotations?.[hubReplicaLabel] ?? "";
}

export function newReplicaLease(
  ref: Required<ObjectRef>,
  replica: string,
  claim: LeaseClaim,
): Lease {
  const lease = newLease(ref, claim);
  return {
    ...lease,
    metadata: {
      ...lease.metadata,
      labels: { [hubReplicaLabel]: "true" },
      annotations: annotationsOf(replica),
    },
  };
}

/** Takes over the Lease of the previous process of the same name. */
export function takenReplicaLease(lease: Lease, replica: string, claim: LeaseClaim): Lease {
  const taken = acquiredLease(lease, claim);
  return {
    ...taken,
    metadata: {
      ...taken.metadata,
      labels: { ...taken.metadata.labels, [hubReplicaLabel]: "true" },
      annotations: { ...taken.metadata.annotations, ...annotationsOf(replica) },
    },
  };
}

/** `flotilla status` reads the version. */
function annotationsOf(replica: string): Readonly<Record<string, string>> {
  return { [hubReplicaLabel]: replica, [hubVersionAnnotation]: buildVersion };
}

/** See presence/epoch.ts; 0 when it has none. */
export function epochFloorOf(lease: Lease | undefined): number {
  const floor = Number(lease?.metadata.annotations?.[epochFloorAnnotation] ?? 0);
  return Number.isSafeInteger(floor) && floor > 0 ? floor : 0;
}

export function withEpochFloor(lease: Lease, floor: number): Lease {
  if (floor === 0) return lease;
  const annotations = { ...lease.metadata.annotations, [epochFloorAnnotation]: String(floor) };
  return { ...lease, metadata: { ...lease.metadata, annotations } };
}

/** `host:port` by which other replicas reach it; undefined if it does not publish one. */
export function addressOf(lease: Lease | undefined): string | undefined {
  return lease?.metadata.annotations?.[replicaAddressAnnotation] || undefined;
}

/** `address`: "" if it is not known, which also removes the address of an earlier process of the same name. */
export function withAddress(lease: Lease, address: string): Lease {
  const annotations = { ...lease.metadata.annotations, [replicaAddressAnnotation]: address };
  return { ...lease, metadata: { ...lease.metadata, annotations } };
}

/** A released Lease is kept for a while, because it shows when the replica stopped. */
export const releasedReplicaLease = releasedLease;
