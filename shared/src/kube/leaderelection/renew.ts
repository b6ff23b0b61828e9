/** Renews a Lease that is ours, and gives it back. */

import { createWaker } from "../../concurrency/waker.ts";
import { AppError } from "../../errors/app-error.ts";
import type { Log } from "../../log/log.ts";
import type { Clock } from "../../time/clock.ts";
import type { KubeRest } from "../client/rest.ts";
import { isConflict, isNotFound } from "../client/status-error.ts";
import { type Lease, leases } from "../objects/core-resources.ts";
import type { ObjectRef } from "../objects/object.ts";
import type { LeaseTimes, Term } from "./leadership.ts";
import { holderOf, isRenewedBefore, releasedLease, renewedLease } from "./lease-record.ts";
import type { LeaseWatch } from "./lease-watch.ts";

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
/** Of the time that is left: a request that hangs must leave some for another one over a new connection. */
const shareOfOneTry = 0.6;
const releaseTimeoutMs = 2_000;

/** Renews `lease` until `stop` aborts or the term is lost; gives the lease as it was written last. */
export async function renewLease(
  options: RenewOptions,
  lease: Lease,
  stop: AbortSignal,
): Promise<Lease> {
  const { rest, ref, identity, times, term, watch, clock, log } = options;
  const waker = createWaker(clock);
  const signal = AbortSignal.any([stop, term.lost]);
  const isOver = (): boolean => signal.aborted;
  let current = lease;
  let renewAt = clock.monotonic() + times.renewIntervalMs;
  let failures = 0;

  const unsubscribe = watch.onChange(() => {
    const holder = holderOf(watch.observed()?.lease);
    // Not proof: the watch may be behind, and tell of the holder before us. A renewal now finds out.
    if (holder !== identity) {
      renewAt = clock.monotonic();
      waker.wake();
    }
  });
  try {
    while (!isOver()) {
      await waker.wait(renewAt - clock.monotonic(), signal);
      if (!isOver() && clock.monotonic() >= renewAt) await renew();
    }
  } finally {
    unsubscribe();
  }
  return current;

  async function renew(): Promise<void> {
    const begunAt = clock.monotonic();
    try {
      const timeoutMs = Math.max(1, term.deadlineMs() * shareOfOneTry);
      current = await rest.replace(leases, renewedLease(current, clock.now()), {
        timeoutMs,
        signal: term.lost,
      });
      term.renewed(begunAt);
      renewAt = begunAt + times.renewIntervalMs;
      failures = 0;
    } catch (error) {
      await afterFailure(error);
    }
  }

  async function afterFailure(error: unknown): Promise<void> {
    if (term.lost.aborted) return;
    renewAt = clock.monotonic() + retryMs;
    if (isConflict(error) || isNotFound(error)) {
      if (await isStillOurs()) renewAt = clock.monotonic();
      return;
    }
    failures++;
    log.warn(
      { err: AppError.from(error), failures, deadlineMs: Math.round(term.deadlineMs()) },
      "lease was not renewed",
    );
  }

  /** A renewal that timed out here may have been carried out there, so a conflict alone says nothing. */
  async function isStillOurs(): Promise<boolean> {
    try {
      const found = await rest.get(leases, ref, {
        timeoutMs: Math.max(1, term.deadlineMs() * shareOfOneTry),
        signal: term.lost,
      });
      const holder = holderOf(found);
      const mayBeOurs = found !== undefined && (holder === undefined || holder === identity);
      // Others write times by clocks of their own, but nobody else gives it back for us.
      if (mayBeOurs && isRenewedBefore(found, current))
        term.lose(
          `it is as it was at ${found.spec?.renewTime ?? ""}, so the API server was restored from an earlier backup, and what is known of it holds no more`,
        );
      else if (mayBeOurs && holder === identity) {
        current = found;
        return true;
      } else
        term.lose(found === undefined ? "it was deleted" : `${holder ?? "nobody"} holds it now`);
    } catch (error) {
      if (!term.lost.aborted) log.warn({ err: AppError.from(error) }, "lease could not be read");
    }
    return false;
  }
}

/** Best effort: if it fails, the others wait until the lease has run out. */
export async function releaseLease(
  options: Pick<RenewOptions, "rest" | "clock" | "log">,
  lease: Lease,
): Promise<void> {
  try {
    await options.rest.replace(leases, releasedLease(lease, options.clock.now()), {
      timeoutMs: releaseTimeoutMs,
    });
  } catch (error) {
    options.log.warn({ err: AppError.from(error) }, "lease was not given back");
  }
}
