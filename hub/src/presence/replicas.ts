/** What each replica of the hub knows of the others: whose Lease was last seen to change when, by its own clock. */

import type { Informer } from "@flotilla/shared/kube/cache/informer.ts";
import { holderOf } from "@flotilla/shared/kube/leaderelection/lease-record.ts";
import type { Lease } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { judgeSilence, longestGapMs, type Silence } from "./judge-silence.ts";
import { type ReplicaLeaseTimes, replicaLeaseTimes, replicaOf } from "./replica-lease.ts";

export interface ReplicasDeps {
  /** The replicas' Leases. */
  readonly leases: Pick<Informer<Lease>, "store" | "onChange">;
  /** The name of this replica. */
  readonly replica: string;
  readonly clock: Clock;
  readonly times?: ReplicaLeaseTimes;
}

export interface Replicas {
  silenceOf(replica: string): Silence;
  /** Its Lease as it was last seen. */
  leaseOf(replica: string): Lease | undefined;
  /** The names of those that have a Lease, dead ones too. */
  names(): readonly string[];
  /** How many are there, this one included. */
  alive(): number;
  /** Hears the name of each whose Lease has changed; gives the function that stops it. */
  onChange(listener: (replica: string) => void): () => void;
}

/** Listens from now on: to be made before the Leases are listed. */
export function createReplicas(deps: ReplicasDeps): Replicas {
  const { leases, replica: own, clock, times = replicaLeaseTimes } = deps;
  const heardAt = new Map<string, number>();
  const listeners = new Set<(replica: string) => void>();
  let echoAt: number | undefined;
  let listeningSince: number | undefined;

  leases.onChange(({ before, after }) => {
    const lease = after ?? before;
    if (lease === undefined) return;
    const replica = replicaOf(lease);
    const now = clock.monotonic();
    heardAt.set(replica, now);
    if (after === undefined) forgetCollected(now);
    if (replica === own) {
      if (echoAt === undefined || now - echoAt > longestGapMs(times)) listeningSince = now;
      echoAt = now;
    }
    for (const listener of listeners) listener(replica);
  });

  /** A replica whose Lease was deleted may live: it gets as long as one that is silent. */
  function forgetCollected(now: number): void {
    const kept = new Set(leases.store.list().map(replicaOf));
    for (const [replica, at] of heardAt)
      if (!kept.has(replica) && now - at > times.goneAfterMs) heardAt.delete(replica);
  }

  function leaseOf(replica: string): Lease | undefined {
    return leases.store.list().find((lease) => replicaOf(lease) === replica);
  }

  function silenceOf(replica: string): Silence {
    return judgeSilence(
      { now: clock.monotonic(), heardAt: heardAt.get(replica), echoAt, listeningSince },
      times,
    );
  }

  return {
    silenceOf,
    leaseOf,
    names: () => leases.store.list().map(replicaOf),
    alive: () =>
      leases.store
        .list()
        .filter((lease) => holderOf(lease) !== undefined)
        .map(replicaOf)
        .filter((replica) => replica === own || silenceOf(replica).kind !== "gone").length,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
