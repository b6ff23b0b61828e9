/**
 * client-go's work queue: each key is queued at most once, and never processed by two workers at a time.
 *
 * A key that is added while it is processed is dirty: it is queued again when the worker is done. So a burst of changes
 * to one object costs one or two reconciles, and none is missed.
 */
import { type Clock, systemClock } from "../../runtime/time/index.ts";
import type { ObjectKey } from "../objects/index.ts";
import { createDelayQueue, type DelayQueue } from "./delay-queue.ts";
import { noQueueMetrics, type QueueMetrics } from "./metrics.ts";
import { createRetryRateLimiter, type RetryLimits } from "./rate-limiter.ts";

/** A key of low priority is processed when no other is queued. */
export type Priority = "normal" | "low";

export interface WorkQueue {
  /** How many keys are queued, without keys of `addAfter` and `addRateLimited` that are still delayed. */
  readonly length: number;
  add(key: ObjectKey, priority?: Priority): void;
  /** Adds the key after `delayMs`; of several delays of one key the earliest counts. */
  addAfter(key: ObjectKey, delayMs: number): void;
  /** Adds the key after a delay that grows with each call until `forget`, and is at least `atLeastMs`; returns the delay. */
  addRateLimited(key: ObjectKey, atLeastMs?: number): number;
  forget(key: ObjectKey): void;
  /** How often `addRateLimited` was called for the key since it was last forgotten. */
  retries(key: ObjectKey): number;
  /** The next key, locked until `done`; `undefined` once the queue is shut down and empty. */
  get(): Promise<ObjectKey | undefined>;
  done(key: ObjectKey): void;
  /** Accepts no more keys and drops the delayed ones; `get` still returns those that are queued. */
  shutdown(): void;
}

export interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly metrics?: QueueMetrics;
  readonly limits?: RetryLimits;
}

export function createWorkQueue(options: WorkQueueOptions = {}): WorkQueue {
  const { clock = systemClock, metrics = noQueueMetrics } = options;
  const limiter = createRetryRateLimiter(clock, options.limits);
  const queued = { normal: createFifo(), low: createFifo() };
  /** Since when a key is queued, for the metrics. */
  const queuedSince = new Map<ObjectKey, number>();
  /** Since when a key is processed. */
  const processing = new Map<ObjectKey, number>();
  const dirty = new Map<ObjectKey, Priority>();
  const idleWorkers: ((key: ObjectKey | undefined) => void)[] = [];
  const delayed: DelayQueue = createDelayQueue(clock, (key) => add(key));
  let isShutdown = false;

  function add(key: ObjectKey, priority: Priority = "normal"): void {
    if (isShutdown) return;
    if (processing.has(key)) {
      if (!dirty.has(key)) metrics.added();
      if (dirty.get(key) !== "normal") dirty.set(key, priority);
      return;
    }
    if (queuedSince.has(key)) {
      if (priority === "normal" && queued.low.remove(key)) queued.normal.push(key);
      return;
    }
    metrics.added();
    enqueue(key, priority);
  }

  function enqueue(key: ObjectKey, priority: Priority): void {
    const now = clock.monotonic();
    const worker = idleWorkers.shift();
    if (worker !== undefined) {
      metrics.started(0);
      processing.set(key, now);
      worker(key);
      return;
    }
    queuedSince.set(key, now);
    queued[priority].push(key);
    metrics.depth(queuedSince.size);
  }

  function take(): ObjectKey | undefined {
    const key = queued.normal.shift() ?? queued.low.shift();
    if (key === undefined) return undefined;
    const now = clock.monotonic();
    metrics.started(now - (queuedSince.get(key) ?? now));
    queuedSince.delete(key);
    metrics.depth(queuedSince.size);
    processing.set(key, now);
    return key;
  }

  return {
    get length() {
      return queuedSince.size;
    },
    add,
    addAfter(key, delayMs) {
      if (isShutdown) return;
      if (delayMs <= 0) add(key);
      else delayed.push(key, delayMs);
    },
    addRateLimited(key, atLeastMs = 0) {
      const delayMs = Math.max(limiter.next(key), atLeastMs);
      if (isShutdown) return delayMs;
      metrics.retried();
      delayed.push(key, delayMs);
      return delayMs;
    },
    forget: (key) => limiter.forget(key),
    retries: (key) => limiter.retries(key),
    get() {
      const key = take();
      if (key !== undefined || isShutdown) return Promise.resolve(key);
      return new Promise((resolve) => idleWorkers.push(resolve));
    },
    done(key) {
      const startedAt = processing.get(key);
      if (startedAt === undefined) return;
      metrics.finished(clock.monotonic() - startedAt);
      processing.delete(key);
      const priority = dirty.get(key);
      dirty.delete(key);
      if (priority !== undefined) enqueue(key, priority);
    },
    shutdown() {
      isShutdown = true;
      delayed.clear();
      for (const worker of idleWorkers.splice(0)) worker(undefined);
    },
  };
}

/** First in, first out, each key once. */
interface Fifo {
  push(key: ObjectKey): void;
  shift(): ObjectKey | undefined;
  remove(key: ObjectKey): boolean;
}

/** A Set keeps the order of insertion, and one iterator continues with what is added later: each step is O(1). */
function createFifo(): Fifo {
  const keys = new Set<ObjectKey>();
  let cursor = keys.values();
  return {
    push: (key) => void keys.add(key),
    shift() {
      if (keys.size === 0) return undefined;
      let next = cursor.next();
      if (next.done === true) {
        // An iterator that has reached the end stays there.
        cursor = keys.values();
        next = cursor.next();
      }
      if (next.done === true) return undefined;
      keys.delete(next.value);
      return next.value;
    },
    remove: (key) => keys.delete(key),
  };
}
