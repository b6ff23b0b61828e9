/**
 * The keys that wait to be worked on: each at most once, and no key by two workers at a time.
 *
 * The three sets are those of client-go: what waits, what is worked on, and what was added while it was worked on and
 * waits again when that is done. So a burst of changes to one object costs one or two runs, and none is missed.
 */
import { type Clock, systemClock } from "../../time/clock.ts";
import type { ObjectKey } from "../objects/object.ts";
import { createDelayQueue, type DelayQueue } from "./delay-queue.ts";
import { type QueueMetrics, silentQueueMetrics } from "./queue-metrics.ts";
import { createRateLimiter, type RateLimits } from "./rate-limiter.ts";

/** Keys with low priority are handed out when no others wait. */
export type Priority = "normal" | "low";

export interface WorkQueue {
  /** How many keys wait to be handed out, those apart that wait for their time. */
  readonly length: number;
  add(key: ObjectKey, priority?: Priority): void;
  /** Adds the key after a time; of several times the earliest counts. */
  addAfter(key: ObjectKey, delayMs: number): void;
  /** Adds the key after a time that grows with each call until `forget`, and is at least `atLeastMs`; gives that time. */
  addRateLimited(key: ObjectKey, atLeastMs?: number): number;
  forget(key: ObjectKey): void;
  /** How often the key was added rate limited since it was last forgotten. */
  retries(key: ObjectKey): number;
  /** The next key, which is this worker's until `done`; `undefined` once the queue is shut down and empty. */
  get(): Promise<ObjectKey | undefined>;
  done(key: ObjectKey): void;
  /** Takes no more keys and drops those that wait for their time; what waits to be handed out still is. */
  shutdown(): void;
}

export interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly metrics?: QueueMetrics;
  readonly limits?: RateLimits;
}

export function createWorkQueue(options: WorkQueueOptions = {}): WorkQueue {
  const { clock = systemClock, metrics = silentQueueMetrics } = options;
  const limiter = createRateLimiter(clock, options.limits);
  const waiting = { normal: createFifo(), low: createFifo() };
  /** Since when a key waits, for the metrics. */
  const waitingSince = new Map<ObjectKey, number>();
  /** Since when a key is worked on. */
  const processing = new Map<ObjectKey, number>();
  const again = new Map<ObjectKey, Priority>();
  const idleWorkers: ((key: ObjectKey | undefined) => void)[] = [];
  const delayed: DelayQueue = createDelayQueue(clock, (key) => add(key));
  let isShutdown = false;

  function add(key: ObjectKey, priority: Priority = "normal"): void {
    if (isShutdown) return;
    if (processing.has(key)) {
      if (!again.has(key)) metrics.added();
      if (again.get(key) !== "normal") again.set(key, priority);
      return;
    }
    if (waitingSince.has(key)) {
      if (priority === "normal" && waiting.low.remove(key)) waiting.normal.push(key);
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
    waitingSince.set(key, now);
    waiting[priority].push(key);
    metrics.depth(waitingSince.size);
  }

  function take(): ObjectKey | undefined {
    const key = waiting.normal.shift() ?? waiting.low.shift();
    if (key === undefined) return undefined;
    const now = clock.monotonic();
    metrics.started(now - (waitingSince.get(key) ?? now));
    waitingSince.delete(key);
    metrics.depth(waitingSince.size);
    processing.set(key, now);
    return key;
  }

  return {
    get length() {
      return waitingSince.size;
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
      const priority = again.get(key);
      again.delete(key);
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

/** A Set keeps the order of insertion; one iterator over it goes on to what is added later, so no step looks back. */
function createFifo(): Fifo {
  const keys = new Set<ObjectKey>();
  let cursor = keys.values();
  return {
    push: (key) => void keys.add(key),
    shift() {
      if (keys.size === 0) return undefined;
      let next = cursor.next();
      if (next.done === true) {
        // An iterator that has come to the end stays there.
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
