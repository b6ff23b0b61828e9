/** One term of leadership, and the fencing of writes by it. */

import { AppError } from "../../errors/index.ts";
import type { Clock } from "../../time/index.ts";
import {
  type CallOptions,
  type KubeConnection,
  type KubeRest,
  kubeErrors,
} from "../client/index.ts";

export interface Leadership {
  /** Aborts when the work has to end: the leadership is lost, or is about to be released. */
  readonly signal: AbortSignal;
  /** Aborts when the leadership is lost: nothing may go on. */
  readonly lost: AbortSignal;
  /** True until it is lost or released, so also while the work ends. */
  readonly isLeading: boolean;
  /** Throws LEADERSHIP_LOST after the renew deadline. */
  assertLeading(): void;
  /**
   * To be awaited before every write. When the watch of the Lease has failed, it waits until the Lease is renewed: the API
   * server may have been restored from a backup, and the caches may be of both histories. Throws LEADERSHIP_LOST; while the
   * work ends it does so instead of waiting.
   */
  confirmLeading(): Promise<void>;
  /** How long until another replica may lead at the earliest: writes have to end by then. */
  remainingMs(): number;
}

export interface LeaseTimes {
  /** From the last renewal until others may acquire the Lease. */
  readonly leaseDurationMs: number;
  readonly renewIntervalMs: number;
  /** From the last renewal until the leader steps down by itself. */
  readonly renewDeadlineMs: number;
}

/** The term as seen by the code that renews the Lease. */
export interface Term extends Leadership {
  /** How long until the leader must stop. */
  deadlineMs(): number;
  /** A renewal starts; the result is to be called when it has succeeded. */
  startRenewal(): () => void;
  /** From now on writes wait until a renewal that starts later has succeeded. */
  invalidate(): void;
  /** False while writes wait. */
  readonly isConfirmed: boolean;
  /** Ends the work; the leadership continues. */
  stopWork(): void;
  lose(why: string): void;
  /** To be called when the Lease was released. */
  end(): void;
}

/**
 * By the monotonic clock alone: a process that was frozen finds that its deadline has passed when it continues, before it
 * has received anything.
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
  let invalidations = 0;
  let isConfirmed = true;
  /** Resolves when it is confirmed, and when the work ends. */
  let confirmation = Promise.withResolvers<void>();
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
    confirmation.resolve();
  }

  function assertLeading(): void {
    if (isLeading()) return;
    throw notLeading(
      ended
        ? "it is no longer the leader"
        : `the lease was not renewed for ${times.renewDeadlineMs / 1000} s`,
    );
  }

  function assertConfirmed(): void {
    if (isConfirmed) return;
    throw notLeading("the watch of the lease has failed, and it is not renewed since");
  }

  function notLeading(why: string): AppError {
    return new AppError(kubeErrors.LEADERSHIP_LOST, `write as the leader by ${what}: ${why}`);
  }

  return {
    signal: work.signal,
    lost: lost.signal,
    get isLeading() {
      return isLeading();
    },
    assertLeading,
    async confirmLeading() {
      assertLeading();
      if (isConfirmed) return;
      if (!work.signal.aborted) await confirmation.promise;
      assertLeading();
      assertConfirmed();
    },
    remainingMs: () => renewedAt + times.leaseDurationMs - clock.monotonic(),
    deadlineMs,
    startRenewal() {
      const startedAt = clock.monotonic();
      const before = invalidations;
      return () => {
        renewedAt = Math.max(renewedAt, startedAt);
        if (invalidations !== before) return;
        isConfirmed = true;
        confirmation.resolve();
      };
    },
    invalidate() {
      invalidations += 1;
      if (isConfirmed) confirmation = Promise.withResolvers();
      isConfirmed = false;
    },
    get isConfirmed() {
      return isConfirmed;
    },
    stopWork() {
      work.abort();
      confirmation.resolve();
    },
    lose,
    end,
  };
}

/** As for writes without fencing. */
const longestWriteMs = 10_000;

/** The same client, whose writes throw once the leadership is lost, and end before another replica may lead. */
export function fenceWrites(
  rest: KubeRest,
  leadership: Pick<Leadership, "confirmLeading" | "remainingMs">,
): KubeRest {
  async function fenced<O extends CallOptions>(options: O): Promise<O> {
    await leadership.confirmLeading();
    return {
      ...options,
      timeoutMs: Math.min(options.timeoutMs ?? longestWriteMs, leadership.remainingMs()),
    };
  }

  return {
    ...rest,
    async create(resource, object, options = {}) {
      return rest.create(resource, object, await fenced(options));
    },
    async replace(resource, object, options = {}) {
      return rest.replace(resource, object, await fenced(options));
    },
    async patch(resource, ref, patch, options = {}) {
      return rest.patch(resource, ref, patch, await fenced(options));
    },
    async delete(resource, ref, options = {}) {
      return rest.delete(resource, ref, await fenced(options));
    },
  };
}

/** The same for a connection and its impersonated clients. */
export function fenceConnection(
  connection: KubeConnection,
  leadership: Leadership,
): KubeConnection {
  return {
    ...fenceWrites(connection, leadership),
    as: (user) => fenceWrites(connection.as(user), leadership),
  };
}
