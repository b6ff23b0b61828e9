/** This process as one of the hub's replicas: its name among them, its Lease, and what it hears of the others. */
import { randomUUID } from "node:crypto";
import type { Informer } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import type { Lease } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Registry } from "prom-client";
import { type ReplicaLease, takeReplicaLease } from "./keep-replica-lease.ts";
import { registerReplicaMetrics } from "./replica-metrics.ts";
import { createReplicas, type Replicas } from "./replicas.ts";

export interface Replica {
  /** The same after a restart. */
  readonly name: string;
  /** Of this process: one that was started anew under the same name is not the holder that it was. */
  readonly identity: string;
  readonly replicas: Replicas;
  /** Whether others count on it, by what it knows itself. */
  isCountedOn(): boolean;
  /** Told whether this process leads, whenever that changes. */
  onLeading(leads: boolean): void;
  /**
   * Resolves once its Lease is its own, with when the process before it was last there: before that no agent may be
   * recorded as its own. The Lease is kept until `leave`, or until `signal` aborts.
   */
  join(signal: AbortSignal): Promise<{ readonly keptBefore?: string }>;
  /** Gives the Lease back. Never rejects. */
  leave(): Promise<void>;
}

export interface ReplicaDeps {
  readonly rest: KubeRest;
  /** The replicas' Leases; not listed yet. */
  readonly leases: Pick<Informer<Lease>, "store" | "onChange">;
  /** The hub's own. */
  readonly namespace: string;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

export function createReplica(deps: ReplicaDeps): Replica {
  const { leases, name, clock, metrics } = deps;
  const identity = `${name}_${randomUUID()}`;
  const replicas = createReplicas({ leases, replica: name, clock });
  const leaving = new AbortController();
  let lease: ReplicaLease | undefined;
  let keeping: Promise<void> | undefined;

  return {
    name,
    identity,
    replicas,
    isCountedOn: () => lease?.isKept === true,
    onLeading: registerReplicaMetrics(metrics, replicas),
    async join(signal) {
      lease = await takeReplicaLease({ ...deps, replica: name, identity });
      keeping = lease.keep(AbortSignal.any([signal, leaving.signal]));
      const { keptBefore } = lease;
      return keptBefore === undefined ? {} : { keptBefore };
    },
    async leave() {
      leaving.abort();
      await keeping;
      await lease?.release();
    },
  };
}
