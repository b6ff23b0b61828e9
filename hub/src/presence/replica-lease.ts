/**
 * The Lease by which a replica of the hub says that it is there, and its agents with it. Pure.
 *
 * An agent may take 18 s to notice that its replica does not answer, and then goes to another one: nobody may be called
 * gone before that. The last renewal is at most 6 s older than a kill, so a replica is gone 20 to 26 s after it.
 */
import { createHash } from "node:crypto";
import { hubReplicaLabel } from "@flotilla/shared/api/names.ts";
import {
  acquiredLease,
  type LeaseClaim,
  newLease,
  releasedLease,
} from "@flotilla/shared/kube/leaderelection/lease-record.ts";
import type { Lease } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { ObjectRef } from "@flotilla/shared/kube/objects/object.ts";

export interface ReplicaLeaseTimes {
  readonly renewEveryMs: number;
  /** A replica that nothing was heard of for so long is gone. */
  readonly goneAfterMs: number;
}

export const replicaLeaseTimes: ReplicaLeaseTimes = { renewEveryMs: 6_000, goneAfterMs: 26_000 };

/** A name may be any text; an object's may not. */
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
      annotations: { [hubReplicaLabel]: replica },
    },
  };
}

/** That of the process before this one, which had the same name. */
export function takenReplicaLease(lease: Lease, replica: string, claim: LeaseClaim): Lease {
  const taken = acquiredLease(lease, claim);
  return {
    ...taken,
    metadata: {
      ...taken.metadata,
      labels: { ...taken.metadata.labels, [hubReplicaLabel]: "true" },
      annotations: { ...taken.metadata.annotations, [hubReplicaLabel]: replica },
    },
  };
}

/** It stays for a while, since it says until when the replica was there. */
export const releasedReplicaLease = releasedLease;
