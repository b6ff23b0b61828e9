/**
 * Leader election among replicas, by a Lease.
 *
 * A candidate watches the Lease and acquires it when its holder has released it, or has not renewed it for its duration,
 * measured by the candidate's own monotonic clock since the last change that it observed: clocks are never compared. Every
 * write of the Lease has the resourceVersion that it was decided on, so only one of several candidates succeeds, and one
 * that has missed a change does no harm.
 */

import { AppError } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { type Clock, systemClock } from "../../runtime/time/index.ts";
import type { KubeRest } from "../client/index.ts";
import { keyOf } from "../objects/index.ts";
import { type Acquired, acquireLease } from "./acquire.ts";
import type { Leadership, LeaseTimes } from "./leadership.ts";
import { holderOf } from "./lease-record.ts";
import { type LeaseWatch, watchLease } from "./lease-watch.ts";
import { type RenewOptions, releaseLease, renewLease } from "./renew.ts";
import { Term } from "./term.ts";

export interface LeaderElectionOptions {
  readonly rest: KubeRest;
  readonly namespace: string;
  /** The name of the Lease. */
  readonly name: string;
  /** Unique to this process: two processes of one identity would both lead. */
  readonly identity: string;
  readonly log: Log;
  /** Ends it: first the leader's work, then the Lease is released. */
  readonly signal: AbortSignal;
  /** The leader's work. It has to end soon after `signal` aborts. */
  readonly onStartedLeading: (signal: AbortSignal, leadership: Leadership) => Promise<void>;
  /** Called with the identity of the holder whenever it changes; `undefined` for none. */
  readonly onNewLeader?: (identity: string | undefined) => void;
  readonly clock?: Clock;
  readonly times?: LeaseTimes;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

/**
 * Failover takes at most 11 s from the last renewal. An API server may be busy for 6 s before a leader steps down, and a
 * write that was started in time has 1.5 s more to complete before another replica may lead.
 */
export const defaultLeaseTimes: LeaseTimes = {
  leaseDurationMs: 11_000,
  renewIntervalMs: 3_500,
  renewDeadlineMs: 9_500,
};

/**
 * Waits to be elected, leads once, and resolves when `signal` aborted or the work ended. Rejects with LEADERSHIP_LOST when the
 * leadership was lost; the process should exit then, or start over with new caches, because those that it has may be stale.
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
  notifyOfLeader(watch, options.onNewLeader);
  const watching = watch.run(stopWatching.signal);
  try {
    const candidate = {
      rest,
      ref,
      identity,
      leaseDurationMs: times.leaseDurationMs,
      watch,
      clock,
      random,
      log,
    };
    const acquired = await acquireLease(candidate, options.signal);
    if (acquired === undefined) return;
    log.info("became leader");
    const what = `lease ${keyOf(ref)}`;
    const term = new Term({ what, times, clock, acquiredAt: acquired.at });
    await lead(options, { rest, ref, identity, times, term, watch, clock, log }, acquired);
  } finally {
    stopWatching.abort();
    await watching;
  }
}

async function lead(
  options: LeaderElectionOptions,
  renewal: RenewOptions,
  acquired: Acquired,
): Promise<void> {
  const { term, log } = renewal;
  const stopRenewing = new AbortController();
  const renewing = renewLease(renewal, acquired.lease, stopRenewing.signal);
  const stopWork = (): void => term.stopWork();
  if (options.signal.aborted) stopWork();
  options.signal.addEventListener("abort", stopWork, { once: true });
  try {
    await work(options, term);
  } finally {
    options.signal.removeEventListener("abort", stopWork);
    stopRenewing.abort();
    const last = await renewing;
    const wasLeading = term.isLeading;
    term.end();
    if (wasLeading) {
      await releaseLease(renewal, last);
      log.info("leadership released");
    }
  }
  if (term.lost.aborted) throw term.lost.reason;
}

/** After the leadership was lost, errors of the work are a consequence of that. */
async function work(options: LeaderElectionOptions, term: Term): Promise<void> {
  try {
    await options.onStartedLeading(term.signal, term);
  } catch (error) {
    if (!term.lost.aborted) throw AppError.from(error);
  }
}

function notifyOfLeader(
  watch: LeaseWatch,
  notify: ((identity: string | undefined) => void) | undefined,
): void {
  if (notify === undefined) return;
  let known: string | undefined;
  watch.onChange(() => {
    const holder = holderOf(watch.observed()?.lease);
    if (holder !== known) notify(holder);
    known = holder;
  });
}
