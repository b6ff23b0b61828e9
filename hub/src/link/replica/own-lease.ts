/** The Lease of this replica: acquired at start, renewed while the process runs, released at its end. */

import { createSemaphore } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { holderOf, type LeaseClaim, renewedLease } from "@flotilla/shared/kube/leaderelection";
import { type Lease, leases } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, delay } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import {
  epochFloorOf,
  newReplicaLease,
  type ReplicaLeaseTimes,
  releasedReplicaLease,
  replicaLeaseName,
  replicaLeaseTimes,
  takenReplicaLease,
  withAddress,
  withEpochFloor,
} from "./lease.ts";

export interface ReplicaLeaseDeps {
  readonly rest: KubeRest;
  /** The hub's own. */
  readonly namespace: string;
  readonly replica: string;
  /** The identity of this process: a restarted one of the same name is another holder. */
  readonly identity: string;
  /** `host:port` by which other replicas reach it; absent: not known. */
  readonly address?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly times?: ReplicaLeaseTimes;
}

export interface ReplicaLease {
  /** The last renewal of the previous process of the same name, RFC 3339; absent if there was none. */
  readonly previousRenewTime?: string;
  /** Whether the Lease is held now, by the local clock. */
  readonly isHeld: boolean;
  /** See presence/epoch.ts. */
  readonly epochFloor: number;
  /** Resolves when a floor above `epoch`, and above every earlier one, is stored. Rejects when the Lease cannot be written. */
  raiseEpochFloor(epoch: number): Promise<void>;
  /** Renews until `signal` aborts or another process takes the name. Never rejects. */
  renew(signal: AbortSignal): Promise<void>;
  /** Other replicas need not wait for its expiry. Never rejects. */
  release(): Promise<void>;
}

const retryMs = 1_000;
const requestTimeoutMs = 5_000;
const releaseTimeoutMs = 2_000;
const attempts = 5;

/** Throws REPLICA_NAME_CONFLICT. Before it resolves no agent may be recorded as connected here. */
export async function acquireReplicaLease(deps: ReplicaLeaseDeps): Promise<ReplicaLease> {
  const { rest, namespace, replica, identity, clock, times = replicaLeaseTimes } = deps;
  const ref = { namespace, name: replicaLeaseName(replica) };
  const log = deps.log.child({ replica });
  const options = { timeoutMs: requestTimeoutMs };
  const writes = createSemaphore(1);
  let renewedAt = clock.monotonic();
  let isLost = false;

  const before = await rest.get(leases, ref, options);
  let epochFloor = epochFloorOf(before);
  let current = await acquire(before);
  const previousRenewTime = before?.spec?.renewTime;

  async function acquire(found: Lease | undefined): Promise<Lease> {
    let known = found;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const claim: LeaseClaim = {
        identity,
        nowMs: clock.now(),
        leaseDurationMs: times.expireAfterMs,
      };
      try {
        return known === undefined
          ? await rest.create(leases, stored(newReplicaLease(ref, replica, claim)), options)
          : await rest.replace(leases, stored(takenReplicaLease(known, replica, claim)), options);
      } catch (thrown) {
        if (!isConflict(thrown) && !isAlreadyExists(thrown) && !isNotFound(thrown)) throw thrown;
        known = await rest.get(leases, ref, options);
      }
    }
    throw new AppError(
      hubErrors.REPLICA_NAME_CONFLICT,
      `cannot acquire the Lease ${namespace}/${ref.name} of replica ${replica}: ${attempts} conflicts in a row; another process probably has the same name`,
    );
  }

  /** One that was deleted is created again with the floor and the address. */
  function stored(lease: Lease): Lease {
    return withAddress(withEpochFloor(lease, epochFloor), deps.address ?? "");
  }

  async function renew(): Promise<void> {
    const begunAt = clock.monotonic();
    try {
      current = await rest.replace(leases, stored(renewedLease(current, clock.now())), options);
    } catch (thrown) {
      if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
      const found = await rest.get(leases, ref, options);
      const holder = holderOf(found);
      // Deleted by a leader that recorded this replica as dead, or written by our own request that seemed to fail.
      if (holder === undefined || holder === identity) current = await acquire(found);
      else {
        isLost = true;
        log.error(
          { holder },
          "another process has acquired the Lease of this replica; give each replica a name of its own",
        );
        return;
      }
    }
    renewedAt = begunAt;
  }

  return {
    ...(previousRenewTime !== undefined && { previousRenewTime }),
    get isHeld() {
      return !isLost && clock.monotonic() - renewedAt < times.expireAfterMs;
    },
    get epochFloor() {
      return epochFloor;
    },
    async raiseEpochFloor(epoch) {
      const raised = Math.max(epochFloor, epoch) + 1;
      await writes.run(async () => {
        const previous = epochFloor;
        epochFloor = raised;
        try {
          await renew();
        } catch (thrown) {
          epochFloor = previous;
          throw thrown;
        }
      });
    },
    async renew(signal) {
      let waitMs = times.renewEveryMs;
      const isOver = (): boolean => signal.aborted || isLost;
      while (!isOver()) {
        await delay(clock, waitMs, signal);
        if (isOver()) return;
        try {
          await writes.run(renew);
          waitMs = times.renewEveryMs;
        } catch (thrown) {
          waitMs = retryMs;
          log.warn(
            { err: AppError.from(thrown), waitMs },
            "cannot renew the Lease of this replica; retrying",
          );
        }
      }
    },
    async release() {
      if (isLost) return;
      try {
        await rest.replace(leases, releasedReplicaLease(current, clock.now()), {
          timeoutMs: releaseTimeoutMs,
        });
      } catch (thrown) {
        log.warn(
          { err: AppError.from(thrown) },
          "cannot release the Lease of this replica; it expires by itself",
        );
      }
    },
  };
}
