/** Runs a reconcile function over the keys of a work queue, with a limited number of workers. */
import type { Registry } from "prom-client";
import { createSemaphore } from "../../runtime/concurrency/index.ts";
import { AppError } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { type Clock, systemClock } from "../../runtime/time/index.ts";
import {
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  KubeStatusError,
  kubeErrors,
} from "../client/index.ts";
import type { ObjectKey } from "../objects/index.ts";
import { controllerMetrics, queueMetrics } from "./metrics.ts";
import type { Reconcile, ReconcileContext, Result } from "./reconcile.ts";
import { startWatches, type Watch } from "./watch.ts";
import { createWorkQueue, type Priority, type WorkQueue } from "./work-queue.ts";

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** How many keys are reconciled at a time, those in `withoutWorker` not counted; default 1. */
  readonly workers?: number;
  /** Default: one with metrics under the controller's name. */
  readonly queue?: WorkQueue;
  /** The controller adds its name and the key; do not add them here. */
  readonly log: Log;
  /** Further fields for the lines of a key. */
  readonly logFields?: (key: ObjectKey) => Readonly<Record<string, string>>;
  readonly metrics: Registry;
  /** The timeout of one reconcile; default 60 s. */
  readonly timeoutMs?: number;
  /** Deliver keys while the controller runs. */
  readonly watches?: readonly Watch[];
  readonly clock?: Clock;
}

export interface Controller {
  readonly name: string;
  /** May be called before `run`. */
  enqueue(key: ObjectKey, priority?: Priority): void;
  enqueueAfter(key: ObjectKey, delayMs: number): void;
  /** Changes how many keys are reconciled at a time. Reconciles in progress continue. */
  setWorkers(count: number): void;
  /**
   * Reconciles until `signal` aborts and the last reconcile has ended. At most once. `abort`: ends those in progress; default:
   * `signal`.
   */
  run(signal: AbortSignal, abort?: AbortSignal): Promise<void>;
}

const defaultTimeoutMs = 60_000;

export function createController(options: ControllerOptions): Controller {
  const { name, workers = 1, clock = systemClock } = options;
  const queue =
    options.queue ?? createWorkQueue({ clock, metrics: queueMetrics(options.metrics, name) });
  const permits = createSemaphore(workers);
  const runs = createRuns(options, queue, clock, async (io) => {
    permits.release();
    try {
      return await io();
    } finally {
      await permits.acquire();
    }
  });

  async function work(signal: AbortSignal): Promise<void> {
    const pending = new Set<Promise<void>>();
    const isStopped = (): boolean => signal.aborted;
    while (!isStopped()) {
      await permits.available();
      const key = await queue.get();
      if (key === undefined) break;
      await permits.acquire();
      // Keys that still wait when the controller stops are enqueued again at the next start.
      const run = (isStopped() ? Promise.resolve() : runs.start(key, signal)).then(() => {
        pending.delete(run);
        permits.release();
        queue.done(key);
      });
      pending.add(run);
    }
    await Promise.all(pending);
  }

  return {
    name,
    enqueue: (key, priority) => queue.add(key, priority),
    enqueueAfter: (key, delayMs) => queue.addAfter(key, delayMs),
    setWorkers: permits.resize,
    async run(signal, abort = signal) {
      const stop = (): void => queue.shutdown();
      const abortRuns = (): void => runs.abort(abort.reason);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      abort.addEventListener("abort", abortRuns, { once: true });
      const stopWatches = startWatches(options.watches ?? [], (key) => queue.add(key));
      try {
        await work(signal);
      } finally {
        stopWatches();
        signal.removeEventListener("abort", stop);
        abort.removeEventListener("abort", abortRuns);
      }
    },
  };
}

interface Runs {
  /** One reconcile and what follows from its result; never rejects. `stopped` aborts when the controller stops. */
  start(key: ObjectKey, stopped: AbortSignal): Promise<void>;
  /** Aborts the signals of all runs. */
  abort(reason: unknown): void;
}

function createRuns(
  options: ControllerOptions,
  queue: WorkQueue,
  clock: Clock,
  withoutWorker: ReconcileContext["withoutWorker"],
): Runs {
  const { name, reconcile, timeoutMs = defaultTimeoutMs } = options;
  const metrics = controllerMetrics(options.metrics, name);
  const log = options.log.child({ controller: name });
  const running = new Set<AbortController>();

  function timeoutError(key: ObjectKey, cause?: unknown): AppError {
    const message = `reconcile ${key}: not finished within ${timeoutMs / 1000} s`;
    return new AppError(kubeErrors.RECONCILE_TIMEOUT, message, { cause });
  }

  function settle(key: ObjectKey, result: Result, context: ReconcileContext): void {
    queue.forget(key);
    if (result.kind === "done") {
      metrics.result("success");
      return;
    }
    metrics.result("requeue_after");
    context.log.debug({ afterMs: result.afterMs, why: result.why }, "reconciled, requeued");
    queue.addAfter(key, result.afterMs);
  }

  function fail(key: ObjectKey, error: AppError, context: ReconcileContext): void {
    metrics.result("error");
    if (!error.retryable) {
      queue.forget(key);
      context.log.error({ err: error }, "reconcile failed, waiting for the next change");
      return;
    }
    const retryAfterMs = error instanceof KubeStatusError ? error.retryAfterMs : undefined;
    const waitMs = Math.round(queue.addRateLimited(key, retryAfterMs));
    const retries = queue.retries(key);
    const level = isStale(error, retries) ? "debug" : "warn";
    context.log[level]({ err: error, retries, waitMs }, "reconcile failed, retrying");
  }

  return {
    async start(key, stopped) {
      const startedAt = clock.monotonic();
      const abort = new AbortController();
      const timer = clock.setTimeout(() => abort.abort(timeoutError(key)), timeoutMs);
      running.add(abort);
      const createLog = () => log.child({ key, ...options.logFields?.(key) });
      const context = contextOf(
        { signal: abort.signal, retries: queue.retries(key), withoutWorker },
        createLog,
      );
      try {
        settle(key, await reconcile(key, context), context);
      } catch (thrown) {
        if (stopped.aborted) metrics.result("error");
        else
          fail(
            key,
            abort.signal.aborted ? timeoutError(key, thrown) : AppError.from(thrown),
            context,
          );
      } finally {
        running.delete(abort);
        timer.cancel();
        metrics.took(clock.monotonic() - startedAt);
      }
    },
    abort(reason) {
      for (const run of running) run.abort(reason);
    },
  };
}

/** Within these retries, 155 ms, a watch normally catches up. */
const staleRetries = 5;

/**
 * Whether a reconcile most likely failed because its cache is stale: a conflict is how optimistic concurrency works,
 * what is not found was deleted since, and what is in a namespace that is being deleted is deleted with it.
 */
function isStale(error: AppError, retries: number): boolean {
  if (isConflict(error) || isNamespaceTerminating(error)) return true;
  return isNotFound(error) && retries <= staleRetries;
}

/** The logger is created when it is first used: most runs log nothing. */
function contextOf(parts: Omit<ReconcileContext, "log">, createLog: () => Log): ReconcileContext {
  let log: Log | undefined;
  return {
    ...parts,
    get log() {
      log ??= createLog();
      return log;
    },
  };
}
