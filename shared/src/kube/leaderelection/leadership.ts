/** One term of leadership: what the leader may still do. */

import { AppError } from "../../errors/app-error.ts";
import type { Clock } from "../../time/clock.ts";
import { kubeErrors } from "../client/errors.ts";
import type { CallOptions, KubeRest } from "../client/rest.ts";

export interface Leadership {
  /** Aborts when the work is to end: the leadership is lost, or is to be given up. */
  readonly signal: AbortSignal;
  /** True until it is lost or given back, so also while the work ends. */
  readonly isLeading: boolean;
  /** Throws LEADERSHIP_LOST once the renew deadline has passed: to be called before every write. */
  assertLeading(): void;
  /** How long until another replica may lead at the earliest; a write must have ended by then. */
  remainingMs(): number;
}

export interface LeaseTimes {
  /** From the last renewal until others may take the lease. */
  readonly leaseDurationMs: number;
  readonly renewIntervalMs: number;
  /** From the last renewal until the leader stops by itself. */
  readonly renewDeadlineMs: number;
}

/** The term as its keeper sees it. */
export interface Term extends Leadership {
  /** Aborts when the leadership is lost. */
  readonly lost: AbortSignal;
  /** How long until the leader must stop. */
  deadlineMs(): number;
  /** Tells of a renewal that succeeded, and when on the monotonic clock it was begun. */
  renewed(begunAt: number): void;
  /** The work is to end; the leadership goes on. */
  stopWork(): void;
  lose(why: string): void;
  /** The lease was given back. */
  end(): void;
}

/**
 * Decided on the monotonic clock alone: a process that was frozen finds its deadline passed when it wakes, before it has
 * read a word from anybody.
 */
export function createTerm(
  what: string,
  times: LeaseTimes,
  clock: Clock,
  acquiredAt: number,
): Term {
  const work = new AbortController();
  const lost = new AbortController();
  let renewedAt = acquiredAt;
  let ended = false;
  let timer = clock.setTimeout(watchDeadline, times.renewDeadlineMs);

  function deadlineMs(): number {
    return renewedAt + times.renewDeadlineMs - clock.monotonic();
  }

  function isLeading(): boolean {
    return !ended && deadlineMs() > 0;
  }

  function watchDeadline(): void {
    const leftMs = deadlineMs();
    if (leftMs > 0) timer = clock.setTimeout(watchDeadline, leftMs);
    else lose(`the lease was not renewed for ${times.renewDeadlineMs / 1000} s`);
  }

  function lose(why: string): void {
    if (ended) return;
    end();
    const error = new AppError(kubeErrors.LEADERSHIP_LOST, `lead by ${what}: ${why}`);
    lost.abort(error);
    work.abort(error);
  }

  function end(): void {
    ended = true;
    timer.cancel();
  }

  return {
    signal: work.signal,
    lost: lost.signal,
    get isLeading() {
      return isLeading();
    },
    assertLeading() {
      if (isLeading()) return;
      const why = ended
        ? "it is no longer the leader"
        : `the lease was not renewed for ${times.renewDeadlineMs / 1000} s`;
      throw new AppError(kubeErrors.LEADERSHIP_LOST, `write as the leader by ${what}: ${why}`);
    },
    remainingMs: () => renewedAt + times.leaseDurationMs - clock.monotonic(),
    deadlineMs,
    renewed(begunAt) {
      renewedAt = Math.max(renewedAt, begunAt);
    },
    stopWork: () => work.abort(),
    lose,
    end,
  };
}

/** The longest that a write may take, as without a guard. */
const longestWriteMs = 10_000;

/** The same connection, whose writes throw once the leadership is lost, and end before another may lead. */
export function fenceWrites(rest: KubeRest, leadership: Leadership): KubeRest {
  function guarded<O extends CallOptions>(options: O): O {
    leadership.assertLeading();
    return {
      ...options,
      timeoutMs: Math.min(options.timeoutMs ?? longestWriteMs, leadership.remainingMs()),
    };
  }

  return {
    ...rest,
    async create(resource, object, options = {}) {
      return rest.create(resource, object, guarded(options));
    },
    async replace(resource, object, options = {}) {
      return rest.replace(resource, object, guarded(options));
    },
    async patch(resource, ref, patch, options = {}) {
      return rest.patch(resource, ref, patch, guarded(options));
    },
    async delete(resource, ref, options = {}) {
      return rest.delete(resource, ref, guarded(options));
    },
  };
}
