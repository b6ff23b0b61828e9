/** The replicas of the hub as this one observes them: when each Lease last changed, by the local clock. */

import type { Informer } from "@flotilla/shared/kube/cache";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import type { Lease } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { type ReplicaLeaseTimes, replicaLeaseTimes, replicaOf } from "./lease.ts";
import { type LeaseExpiry, leaseExpiryOf, longestGapMs } from "./lease-expiry.ts";

export interface ReplicasDeps {
  /** The replicas' Leases. */
  readonly leases: Pick<Informer<Lease>, "store" | "onChange">;
  /** The name of this replica. */
  readonly replica: string;
  readonly clock: Clock;
  readonly times?: ReplicaLeaseTimes;
}

export interface Replicas {
  expiryOf(replica: string): LeaseExpiry;
  /** Its Lease from the cache. */
  leaseOf(replica: string): Lease | undefined;
  /** The names of all replicas with a Lease, also an expired one. */
  names(): readonly string[];
  /** How many hold their Lease, this one included. */
  alive(): number;
  /** Called with the name of a replica whose Lease has changed; returns the function that removes the listener. */
  onChange(listener: (replica: string) => void): () => void;
}

/** To be called before the informer runs. */
export function createReplicas(deps: ReplicasDeps): Replicas {
  const { leases, replica: own, clock, times = replicaLeaseTimes } = deps;
  const observedAt = new Map<string, number>();
  const listeners = new Set<(replica: string) => void>();
  let ownObservedAt: number | undefined;
  let watchingSince: number | undefined;

  leases.onChange(({ before, after }) => {
    const lease = after ?? before;
    if (lease === undefined) return;
    const replica = replicaOf(lease);
    const now = clock.monotonic();
    observedAt.set(replica, now);
    if (after === undefined) forgetDeleted(now);
    if (replica === own) {
      if (ownObservedAt === undefined || now - ownObservedAt > longestGapMs(times))
        watchingSince = now;
      ownObservedAt = now;
    }
    for (const listener of listeners) listener(replica);
  });

  /** A replica whose Lease was deleted may be alive: it expires like one that does not renew. */
  function forgetDeleted(now: number): void {
    const kept = new Set(leases.store.list().map(replicaOf));
    for (const [replica, at] of observedAt)
      if (!kept.has(replica) && now - at > times.expireAfterMs) observedAt.delete(replica);
  }

  function leaseOf(replica: string): Lease | undefined {
    return leases.store.list().find((lease) => replicaOf(lease) === replica);
  }

  function expiryOf(replica: string): LeaseExpiry {
    return leaseExpiryOf(
      { now: clock.monotonic(), observedAt: observedAt.get(replica), ownObservedAt, watchingSince },
      times,
    );
  }

  return {
    expiryOf,
    leaseOf,
    names: () => leases.store.list().map(replicaOf),
    alive: () =>
      leases.store
        .list()
        .filter((lease) => holderOf(lease) !== undefined)
        .map(replicaOf)
        .filter((replica) => replica === own || expiryOf(replica).kind !== "expired").length,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
