/**
 * One leader among several replicas, by a Lease.
 *
 * A challenger watches the Lease and takes it when its holder has given it back, or has not renewed it for as long as
 * the Lease says, measured by the challenger's own monotonic clock since the last change that it saw: clocks are never
 * compared. Every write of the Lease carries the resourceVersion that it was decided on, so only one of several
 * challengers succeeds, and one that has missed something does no harm.
 */

import { AppError } from "../../errors/app-error.ts";
import type { Log } from "../../log/log.ts";
import { type Clock, systemClock } from "../../time/clock.ts";
import type { KubeRest } from "../client/rest.ts";
import { keyOf } from "../objects/object.ts";
import { type Acquired, acquireLease } from "./acquire.ts";
import { createTerm, type Leadership, type LeaseTimes, type Term } from "./leadership.ts";
import { holderOf } from "./lease-record.ts";
import { type LeaseWatch, watchLease } from "./lease-watch.ts";
import { type RenewOptions, releaseLease, renewLease } from "./renew.ts";

export interface LeaderElectionOptions {
  readonly rest: KubeRest;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Unique to this process: two processes with one identity would both lead. */
  readonly identity: string;
  readonly log: Log;
  /** Ends it: the work first, then the lease is given back. */
  readonly signal: AbortSignal;
  /** The leader's work. It ends soon after `signal` aborts. */
  readonly onStartedLeading: (signal: AbortSignal, leadership: Leadership) => Promise<void>;
  /** Who leads, whenever that changes; `undefined` for nobody. */
  readonly onNewLeader?: (identity: string | undefined) => void;
  readonly clock?: Clock;
  readonly times?: LeaseTimes;
  /** Between 0 and 1. */
  readonly random?: () => number;
}

/**
 * Another leads at most 12 s after the last sign of the one before. An API server may be busy for 6 s before a leader gives
 * up, and a write that was begun in time has 2 s more to be there before another may lead.
 */
export const defaultLeaseTimes: LeaseTimes = {
  leaseDurationMs: 12_000,
  renewIntervalMs: 4_000,
  renewDeadlineMs: 10_000,
};

/**
 * Waits to be elected, leads once, and ends: normally when `signal` aborted or the work ended, with LEADERSHIP_LOST when
 * the leadership was lost. Whoever lost it should end the process: what it believes to know may be old.
 */
export async function runLeaderElection(options: LeaderElectionOptions): Promise<void> {
  const {
    rest,
    identity,
    clock = systemClock,
    random = Math.random,
    times = defaultLeaseTimes,
  } = options;
  const ref = { namespace: options.namespace, name: options.name };
  const log = options.log.child({ lease: keyOf(ref), identity });
  const stopWatching = new AbortController();
  const watch = watchLease({ rest, ref, clock, random, log });
  reportLeader(watch, options.onNewLeader);
  const watching = watch.run(stopWatching.signal);
  try {
    const challenger = {
      rest,
      ref,
      identity,
      leaseDurationMs: times.leaseDurationMs,
      watch,
      clock,
      random,
      log,
    };
    const acquired = await acquireLease(challenger, options.signal);
    if (acquired === undefined) return;
    log.info("elected as leader");
    const term = createTerm(`lease ${keyOf(ref)}`, times, clock, acquired.at);
    await lead(options, { rest, ref, identity, times, term, watch, clock, log }, acquired);
  } finally {
    stopWatching.abort();
    await watching;
  }
}

async function lead(
  options: LeaderElectionOptions,
  keeper: RenewOptions,
  acquired: Acquired,
): Promise<void> {
  const { term, log } = keeper;
  const stopKeeping = new AbortController();
  const keeping = renewLease(keeper, acquired.lease, stopKeeping.signal);
  const wind = (): void => term.stopWork();
  if (options.signal.aborted) wind();
  options.signal.addEventListener("abort", wind, { once: true });
  try {
    await work(options, term);
  } finally {
    options.signal.removeEventListener("abort", wind);
    stopKeeping.abort();
    const last = await keeping;
    const wasLeading = term.isLeading;
    term.end();
    if (wasLeading) {
      await releaseLease(keeper, last);
      log.info("leadership given back");
    }
  }
  if (term.lost.aborted) throw term.lost.reason;
}

/** What the work throws after the leadership was lost is a consequence of that. */
async function work(options: LeaderElectionOptions, term: Term): Promise<void> {
  try {
    await options.onStartedLeading(term.signal, term);
  } catch (error) {
    if (!term.lost.aborted) throw AppError.from(error);
  }
}

function reportLeader(
  watch: LeaseWatch,
  report: ((identity: string | undefined) => void) | undefined,
): void {
  if (report === undefined) return;
  let reported: string | undefined;
  watch.onChange(() => {
    const holder = holderOf(watch.observed()?.lease);
    if (holder !== reported) report(holder);
    reported = holder;
  });
}
