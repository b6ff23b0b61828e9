/**
 * Runs a reconcile function over keys.
 *
 * Level-based: a reconcile is told which object to look at and never what happened to it. It compares what is with what
 * should be, and may be run again at any time. A throw means "again, later"; a throw of what cannot get better by
 * itself (`retryable` false) means "not until something changes".
 */
import type { Registry } from "prom-client";
import { createSemaphore } from "../../concurrency/semaphore.ts";
import { AppError } from "../../errors/app-error.ts";
import type { Log } from "../../log/log.ts";
import { type Clock, systemClock } from "../../time/clock.ts";
import { kubeErrors } from "../client/errors.ts";
import { isConflict, KubeStatusError } from "../client/status-error.ts";
import type { ObjectKey } from "../objects/object.ts";
import { controllerMetrics } from "./controller-metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";
import type { Result } from "./reconcile.ts";
import { createWorkQueue, type Priority, type WorkQueue } from "./work-queue.ts";

export interface ReconcileContext {
  /** Aborts when the run takes too long or the controller ends. */
  readonly signal: AbortSignal;
  /** Names the controller and the key in each line. */
  readonly log: Log;
  /**
   * Waits for something that others decide, a repository for instance, and leaves its place among the workers to other
   * keys meanwhile: what is slow for one must not hold up all.
   */
  withoutWorker<T>(wait: () => Promise<T>): Promise<T>;
}

export type Reconcile = (key: ObjectKey, context: ReconcileContext) => Promise<Result>;

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** How many keys are worked on at a time, those that wait aside not counted; default 1. */
  readonly workers?: number;
  /** Default: one with metrics under the controller's name. */
  readonly queue?: WorkQueue;
  readonly log: Log;
  /** More to name in each line about a key. */
  readonly logFields?: (key: ObjectKey) => Readonly<Record<string, string>>;
  readonly metrics: Registry;
  /** Of one run; default 60 s. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

export interface Controller {
  readonly name: string;
  /** May be called before `run`. */
  enqueue(key: ObjectKey, priority?: Priority): void;
  enqueueAfter(key: ObjectKey, delayMs: number): void;
  /** Works until `signal` aborts and the last reconcile has ended. At most once. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Whether a run is broken off because its process or its leadership ends: what it throws then says nothing of the object, and
 * somebody else goes on with it. False where the run took too long.
 */
export function isEnding({ aborted, reason }: AbortSignal): boolean {
  const isTooLong = reason instanceof AppError && reason.code === kubeErrors.RECONCILE_TIMEOUT.code;
  return aborted && !isTooLong;
}

const defaultTimeoutMs = 60_000;

export function createController(options: ControllerOptions): Controller {
  const {
    name,
    reconcile,
    workers = 1,
    timeoutMs = defaultTimeoutMs,
    clock = systemClock,
  } = options;
  const queue =
    options.queue ?? createWorkQueue({ clock, metrics: queueMetrics(options.metrics, name) });
  const metrics = controllerMetrics(options.metrics, name);
  const log = options.log.child({ controller: name });
  const slots = createSemaphore(workers);
  const running = new Set<AbortController>();

  async function work(signal: AbortSignal): Promise<void> {
    const under = new Set<Promise<void>>();
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      await slots.available();
      const key = await queue.get();
      if (key === undefined) break;
      await slots.acquire();
      // What still waits when the controller ends is found again at the next start.
      const run = (isOver() ? Promise.resolve() : runOnce(key, signal)).then(() => {
        under.delete(run);
        slots.release();
        queue.done(key);
      });
      under.add(run);
    }
    await Promise.all(under);
  }

  async function aside<T>(wait: () => Promise<T>): Promise<T> {
    slots.release();
    try {
      return await wait();
    } finally {
      await slots.acquire();
    }
  }

  /** Never throws. */
  async function runOnce(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const startedAt = clock.monotonic();
    const abort = new AbortController();
    const timer = clock.setTimeout(() => {
      abort.abort(tookTooLong(key, undefined));
    }, timeoutMs);
    running.add(abort);
    const createLog = () => log.child({ key, ...options.logFields?.(key) });
    const context = contextOf({ signal: abort.signal, withoutWorker }, createLog);
    try {
      const outcome = await reconcile(key, context);
      settle(key, outcome, context);
    } catch (error) {
      if (signal.aborted) metrics.result("error");
      else
        fail(key, abort.signal.aborted ? tookTooLong(key, error) : AppError.from(error), context);
    } finally {
      running.delete(abort);
      timer.cancel();
      metrics.took(clock.monotonic() - startedAt);
    }
  }

  function tookTooLong(key: ObjectKey, cause: unknown): AppError {
    const message = `reconcile ${key}: it took longer than ${timeoutMs / 1000} s`;
    return new AppError(kubeErrors.RECONCILE_TIMEOUT, message, { cause });
  }

  function settle(key: ObjectKey, outcome: Result, context: ReconcileContext): void {
    queue.forget(key);
    if (outcome.kind === "done") {
      metrics.result("success");
      return;
    }
    metrics.result("requeue_after");
    context.log.debug({ afterMs: outcome.afterMs, why: outcome.why }, "reconcile again later");
    queue.addAfter(key, outcome.afterMs);
  }

  function fail(key: ObjectKey, error: AppError, context: ReconcileContext): void {
    metrics.result("error");
    if (!error.retryable) {
      queue.forget(key);
      context.log.error(
        { err: error },
        "reconcile failed, not tried again until something changes",
      );
      return;
    }
    const askedMs = error instanceof KubeStatusError ? error.retryAfterMs : undefined;
    const waitMs = Math.round(queue.addRateLimited(key, askedMs));
    // Somebody else was faster: that is how optimistic writes are meant to go.
    const level = isConflict(error) ? "debug" : "warn";
    context.log[level]({ err: error, retries: queue.retries(key), waitMs }, "reconcile failed");
  }

  return {
    name,
    enqueue: (key, priority) => queue.add(key, priority),
    enqueueAfter: (key, delayMs) => queue.addAfter(key, delayMs),
    async run(signal) {
      const end = (): void => {
        queue.shutdown();
        for (const abort of running) abort.abort(signal.reason);
      };
      if (signal.aborted) end();
      signal.addEventListener("abort", end, { once: true });
      await work(signal);
      signal.removeEventListener("abort", end);
    },
  };
}

/** The logger is made when it is first used: most runs find nothing to say. */
function contextOf(parts: Omit<ReconcileContext, "log">, createLog: () => Log): ReconcileContext {
  let own: Log | undefined;
  return {
    ...parts,
    get log() {
      own ??= createLog();
      return own;
    },
  };
}
