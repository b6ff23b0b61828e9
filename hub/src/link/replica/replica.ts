/** This process as one of the hub's replicas: its name, its Lease, and the other replicas. */
import { randomUUID } from "node:crypto";
import type { Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Lease } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { Gauge, type Registry } from "prom-client";
import { addressOf, epochFloorOf } from "./lease.ts";
import { acquireReplicaLease, type ReplicaLease } from "./own-lease.ts";
import { createReplicas, type Replicas } from "./replicas.ts";

export interface Replica {
  /** The same after a restart. */
  readonly name: string;
  /** The identity of this process: a restarted one of the same name is another holder. */
  readonly identity: string;
  readonly replicas: Replicas;
  /** Whether it holds its Lease, by its own clock. */
  isLeaseHeld(): boolean;
  /** See presence/epoch.ts: of any replica, as far as it is known here. */
  epochFloorOf(replica: string): number;
  /** `host:port` by which other replicas reach the HTTP port of one; undefined: not known. */
  addressOf(replica: string): string | undefined;
  /** Resolves when a floor above `epoch`, and above every earlier one of this replica, is stored. Only after `acquire`. */
  raiseEpochFloor(epoch: number): Promise<void>;
  /** To be called whenever this process gains or loses leadership. */
  onLeading(isLeading: boolean): void;
  /**
   * Acquires the Lease, before which no agent may be recorded as connected here. It is renewed until `release`, or until `signal`
   * aborts. Resolves with the last renewal of the previous process of the same name.
   */
  acquire(signal: AbortSignal): Promise<{ readonly previousRenewTime?: string }>;
  /** Never rejects. */
  release(): Promise<void>;
}

export interface ReplicaDeps {
  readonly rest: KubeRest;
  /** Leases of all replicas; the informer does not run yet. */
  readonly leases: Pick<Informer<Lease>, "store" | "onChange">;
  /** The hub's own. */
  readonly namespace: string;
  readonly name: string;
  /** `host:port` by which other replicas reach it; absent: not known. */
  readonly address?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

export function createReplica(deps: ReplicaDeps): Replica {
  const { leases, name, clock, metrics } = deps;
  const identity = `${name}_${randomUUID()}`;
  const replicas = createReplicas({ leases, replica: name, clock });
  const releasing = new AbortController();
  let lease: ReplicaLease | undefined;
  let renewing: Promise<void> | undefined;

  return {
    name,
    identity,
    replicas,
    isLeaseHeld: () => lease?.isHeld === true,
    epochFloorOf: (of) =>
      of === name ? (lease?.epochFloor ?? 0) : epochFloorOf(replicas.leaseOf(of)),
    addressOf: (of) => addressOf(replicas.leaseOf(of)),
    async raiseEpochFloor(epoch) {
      await lease?.raiseEpochFloor(epoch);
    },
    onLeading: registerReplicaMetrics(metrics, replicas),
    async acquire(signal) {
      lease = await acquireReplicaLease({ ...deps, replica: name, identity });
      renewing = lease.renew(AbortSignal.any([signal, releasing.signal]));
      const { previousRenewTime } = lease;
      return previousRenewTime === undefined ? {} : { previousRenewTime };
    },
    async release() {
      releasing.abort();
      await renewing;
      await lease?.release();
    },
  };
}

/** Returns the function that sets whether this replica leads. */
function registerReplicaMetrics(
  registry: Registry,
  replicas: Pick<Replicas, "alive">,
): (isLeading: boolean) => void {
  const registers = [registry];
  new Gauge({
    name: "flotilla_hub_replicas",
    help: "Replicas of the hub that hold their Lease, as this one observes them.",
    registers,
    collect() {
      this.set(replicas.alive());
    },
  });
  const leader = new Gauge({
    name: "flotilla_hub_leader",
    help: "Whether this replica leads: 1, else 0. The sum over all replicas is 1.",
    registers,
  });
  leader.set(0);
  return (isLeading) => leader.set(isLeading ? 1 : 0);
}
