/** Renews a Lease that this replica holds, and releases it. */

import { createWaker } from "../../runtime/concurrency/index.ts";
import { AppError } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import type { Clock } from "../../runtime/time/index.ts";
import { isConflict, isNotFound, type KubeRest } from "../client/index.ts";
import { type Lease, leases, type ObjectRef } from "../objects/index.ts";
import type { LeaseTimes } from "./leadership.ts";
import { holderOf, isRenewedBefore, releasedLease, renewedLease } from "./lease-record.ts";
import type { LeaseWatch } from "./lease-watch.ts";
import type { Term } from "./term.ts";

export interface RenewOptions {
  readonly rest: KubeRest;
  readonly ref: Required<ObjectRef>;
  readonly identity: string;
  readonly times: LeaseTimes;
  readonly term: Term;
  readonly watch: LeaseWatch;
  readonly clock: Clock;
  readonly log: Log;
}

const retryMs = 250;
/**
 * The part of the time until the deadline that a request may take: a request that hangs must leave time for another one over a new
 * connection.
 */
const requestShare = 0.6;
const releaseTimeoutMs = 2_000;

/** Renews `lease` until `stop` aborts or the term is lost; returns the last written Lease. */
export async function renewLease(
  options: RenewOptions,
  lease: Lease,
  stop: AbortSignal,
): Promise<Lease> {
  const { rest, ref, identity, times, term, watch, clock, log } = options;
  const waker = createWaker(clock);
  const signal = AbortSignal.any([stop, term.lost]);
  const isStopped = (): boolean => signal.aborted;
  let current = lease;
  let renewAt = clock.monotonic() + times.renewIntervalMs;
  let failures = 0;

  function renewNow(): void {
    renewAt = clock.monotonic();
    waker.wake();
  }

  const unsubscribe = watch.onChange(() => {
    const holder = holderOf(watch.observed()?.lease);
    // No proof: a watch that is behind delivers the previous holder. A renewal now finds out.
    if (holder !== identity) renewNow();
  });
  // A renewal finds out whether the server has still the Lease that was written last.
  const unsubscribeFailures = watch.onFailed(() => {
    term.invalidate();
    renewNow();
  });
  try {
    while (!isStopped()) {
      await waker.wait(renewAt - clock.monotonic(), signal);
      if (!isStopped() && clock.monotonic() >= renewAt) await renew();
    }
  } finally {
    unsubscribe();
    unsubscribeFailures();
  }
  return current;

  async function renew(): Promise<void> {
    const startedAt = clock.monotonic();
    const renewed = term.startRenewal();
    try {
      const timeoutMs = Math.max(1, term.deadlineMs() * requestShare);
      current = await rest.replace(leases, renewedLease(current, clock.now()), {
        timeoutMs,
        signal: term.lost,
      });
      renewed();
      renewAt = term.isConfirmed ? startedAt + times.renewIntervalMs : clock.monotonic();
      failures = 0;
    } catch (error) {
      await afterFailure(error);
    }
  }

  async function afterFailure(error: unknown): Promise<void> {
    if (term.lost.aborted) return;
    renewAt = clock.monotonic() + retryMs;
    if (isConflict(error) || isNotFound(error)) {
      if (await isStillHeld()) renewAt = clock.monotonic();
      return;
    }
    failures++;
    log.warn(
      { err: AppError.from(error), failures, deadlineMs: Math.round(term.deadlineMs()) },
      "lease not renewed, retrying",
    );
  }

  /** The server may have executed a renewal that timed out here, so a conflict alone proves nothing. */
  async function isStillHeld(): Promise<boolean> {
    try {
      const found = await rest.get(leases, ref, {
        timeoutMs: Math.max(1, term.deadlineMs() * requestShare),
        signal: term.lost,
      });
      const holder = holderOf(found);
      const mayBeHeld = found !== undefined && (holder === undefined || holder === identity);
      // Other holders write times of their own clocks, but only this replica releases its Lease.
      if (mayBeHeld && isRenewedBefore(found, current))
        term.lose(
          `its renewTime went back to ${found.spec?.renewTime ?? ""}: the API server was restored from a backup, so the caches of this replica are stale`,
        );
      else if (mayBeHeld && holder === identity) {
        current = found;
        return true;
      } else
        term.lose(found === undefined ? "it was deleted" : `its holder is ${holder ?? "none"} now`);
    } catch (error) {
      if (!term.lost.aborted) log.warn({ err: AppError.from(error) }, "lease not read, retrying");
    }
    return false;
  }
}

/** Best effort: if it fails, the other replicas wait until the Lease expires. */
export async function releaseLease(
  options: Pick<RenewOptions, "rest" | "clock" | "log">,
  lease: Lease,
): Promise<void> {
  try {
    await options.rest.replace(leases, releasedLease(lease, options.clock.now()), {
      timeoutMs: releaseTimeoutMs,
    });
  } catch (error) {
    options.log.warn(
      { err: AppError.from(error) },
      "lease not released, other replicas wait until it expires",
    );
  }
}
