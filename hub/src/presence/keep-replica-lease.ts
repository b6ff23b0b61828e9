/** Keeps the Lease of this replica for as long as the process runs, and gives it back. */

import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
} from "@flotilla/shared/kube/client/status-error.ts";
import {
  holderOf,
  type LeaseClaim,
  renewedLease,
} from "@flotilla/shared/kube/leaderelection/lease-record.ts";
import { type Lease, leases } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { delay } from "@flotilla/shared/time/clock.ts";
import { presenceErrors } from "./errors.ts";
import {
  newReplicaLease,
  type ReplicaLeaseTimes,
  releasedReplicaLease,
  replicaLeaseName,
  replicaLeaseTimes,
  takenReplicaLease,
} from "./replica-lease.ts";

export interface ReplicaLeaseDeps {
  readonly rest: KubeRest;
  /** The hub's own. */
  readonly namespace: string;
  readonly replica: string;
  /** Of this process: one that was started anew under the same name is another. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly times?: ReplicaLeaseTimes;
}

export interface ReplicaLease {
  /** When the process before this one was last there, RFC 3339; absent where there was none. For people. */
  readonly keptBefore?: string;
  /** Whether others still count on this replica, by what it knows itself. */
  readonly isKept: boolean;
  /** Renews it until `signal` aborts; never rejects. */
  keep(signal: AbortSignal): Promise<void>;
  /** The others need not wait for it to run out, and see until when the replica was there. Never rejects. */
  release(): Promise<void>;
}

const retryMs = 1_000;
const requestTimeoutMs = 5_000;
const releaseTimeoutMs = 2_000;
const attempts = 5;

/** Resolves once the Lease is this process's own: before that no agent may be recorded as this replica's. */
export async function takeReplicaLease(deps: ReplicaLeaseDeps): Promise<ReplicaLease> {
  const { rest, namespace, replica, identity, clock, times = replicaLeaseTimes } = deps;
  const ref = { namespace, name: replicaLeaseName(replica) };
  const log = deps.log.child({ replica });
  const options = { timeoutMs: requestTimeoutMs };
  let renewedAt = clock.monotonic();
  let isLost = false;

  const before = await rest.get(leases, ref, options);
  let current = await take(before);
  const keptBefore = before?.spec?.renewTime;

  async function take(found: Lease | undefined): Promise<Lease> {
    let known = found;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const claim: LeaseClaim = {
        identity,
        nowMs: clock.now(),
        leaseDurationMs: times.goneAfterMs,
      };
      try {
        return known === undefined
          ? await rest.create(leases, newReplicaLease(ref, replica, claim), options)
          : await rest.replace(leases, takenReplicaLease(known, replica, claim), options);
      } catch (thrown) {
        if (!isConflict(thrown) && !isAlreadyExists(thrown) && !isNotFound(thrown)) throw thrown;
        known = await rest.get(leases, ref, options);
      }
    }
    throw new AppError(
      presenceErrors.REPLICA_BUSY,
      `the Lease ${namespace}/${ref.name} of replica ${replica} was written by others ${attempts} times while it was being taken; are there two replicas of that name?`,
    );
  }

  async function renew(): Promise<void> {
    const begunAt = clock.monotonic();
    try {
      current = await rest.replace(leases, renewedLease(current, clock.now()), options);
    } catch (thrown) {
      if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
      const found = await rest.get(leases, ref, options);
      const holder = holderOf(found);
      // Collected by a leader that took us for dead, or written by our own request that seemed to fail.
      if (holder === undefined || holder === identity) current = await take(found);
      else {
        isLost = true;
        log.error(
          { holder },
          "another process has taken the name of this replica; each replica needs a name of its own",
        );
        return;
      }
    }
    renewedAt = begunAt;
  }

  return {
    ...(keptBefore !== undefined && { keptBefore }),
    get isKept() {
      return !isLost && clock.monotonic() - renewedAt < times.goneAfterMs;
    },
    async keep(signal) {
      let waitMs = times.renewEveryMs;
      const isOver = (): boolean => signal.aborted || isLost;
      while (!isOver()) {
        await delay(clock, waitMs, signal);
        if (isOver()) return;
        try {
          await renew();
          waitMs = times.renewEveryMs;
        } catch (thrown) {
          waitMs = retryMs;
          log.warn({ err: AppError.from(thrown), waitMs }, "Lease of this replica was not renewed");
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
        log.warn({ err: AppError.from(thrown) }, "Lease of this replica was not given back");
      }
    },
  };
}
