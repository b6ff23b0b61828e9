/** Waits until a Lease is free, and acquires it. */

import { createBackoff, createWaker } from "../../runtime/concurrency/index.ts";
import { AppError } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import type { Clock } from "../../runtime/time/index.ts";
import { isAlreadyExists, isConflict, isNotFound, type KubeRest } from "../client/index.ts";
import { type Lease, leases, type ObjectRef } from "../objects/index.ts";
import {
  acquiredLease,
  durationMsOf,
  holderOf,
  type LeaseClaim,
  newLease,
} from "./lease-record.ts";
import type { LeaseWatch } from "./lease-watch.ts";

export interface AcquireOptions {
  readonly rest: KubeRest;
  readonly ref: Required<ObjectRef>;
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly watch: LeaseWatch;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

export interface Acquired {
  readonly lease: Lease;
  /** On the monotonic clock: when the write that acquired it started. */
  readonly at: number;
}

const backoffMs = { firstMs: 500, longestMs: 5_000 };

/** Returns `undefined` when `signal` aborts first. */
export async function acquireLease(
  options: AcquireOptions,
  signal: AbortSignal,
): Promise<Acquired | undefined> {
  const { rest, ref, clock, watch, log } = options;
  const waker = createWaker(clock);
  const backoff = createBackoff({ ...backoffMs, random: options.random });
  const unsubscribe = watch.onChange(waker.wake);
  try {
    while (!signal.aborted) {
      const observed = watch.observed();
      const freeInMs = observed === undefined ? undefined : untilFree(observed.lease, observed.at);
      if (freeInMs === undefined || freeInMs > 0) {
        await waker.wait(freeInMs, signal);
        continue;
      }
      const at = clock.monotonic();
      try {
        return { lease: await acquire(observed?.lease), at };
      } catch (error) {
        // What is not found by a create is the namespace.
        const isDeleted = isNotFound(error) && observed?.lease !== undefined;
        if (isConflict(error) || isAlreadyExists(error) || isDeleted) {
          // Another candidate was faster, or the watch is behind.
          await readLease();
          continue;
        }
        const waitMs = backoff.next();
        log.warn(
          { err: AppError.from(error), waitMs: Math.round(waitMs) },
          "lease not acquired, retrying",
        );
        await waker.wait(waitMs, signal);
      }
    }
    return undefined;
  } finally {
    unsubscribe();
  }

  /** How long until the Lease is free, as observed by this candidate. */
  function untilFree(lease: Lease | undefined, observedAt: number): number {
    const holder = holderOf(lease);
    if (lease === undefined || holder === undefined || holder === options.identity) return 0;
    return observedAt + durationMsOf(lease, options.leaseDurationMs) - clock.monotonic();
  }

  function acquire(lease: Lease | undefined): Promise<Lease> {
    const claim: LeaseClaim = {
      identity: options.identity,
      nowMs: clock.now(),
      leaseDurationMs: options.leaseDurationMs,
    };
    const callOptions = { signal, timeoutMs: options.leaseDurationMs / 2 };
    return lease === undefined
      ? rest.create(leases, newLease(ref, claim), callOptions)
      : rest.replace(leases, acquiredLease(lease, claim), callOptions);
  }

  async function readLease(): Promise<void> {
    try {
      watch.observe(
        await rest.get(leases, ref, { signal, timeoutMs: options.leaseDurationMs / 2 }),
      );
    } catch (error) {
      const waitMs = backoff.next();
      log.warn(
        { err: AppError.from(error), waitMs: Math.round(waitMs) },
        "lease not read, retrying",
      );
      await waker.wait(waitMs, signal);
    }
  }
}
