/**
 * When the objects of a release are compared: at once after a change, and again if it has changed meanwhile. One that changes all
 * the time is compared twice a second; one that cannot be compared is retried later.
 */
import { backoffDelayMs, type Semaphore } from "@flotilla/shared/concurrency";
import type { Clock, Timer } from "@flotilla/shared/time";

export interface ComparisonsDeps {
  readonly compare: (key: string, signal: AbortSignal) => Promise<void>;
  /** Called with the error of a comparison, which is retried. */
  readonly onFailure: (key: string, thrown: unknown) => void;
  /** Whether a failure is the result of the comparison, and not one of the API server. */
  readonly isResult: (thrown: unknown) => boolean;
  /** Limits all comparisons of the agent. */
  readonly permits: Pick<Semaphore, "run">;
  readonly clock: Clock;
}

/** Between two comparisons of an object. */
const intervalMs = 500;
const retries = { firstMs: 5_000, longestMs: 10 * 60_000 };

interface Comparison {
  startedAtMs: number;
  failures: number;
  isRunning: boolean;
  /** The object has changed since the comparison began. */
  isStale: boolean;
  timer?: Timer | undefined;
  /** Called when the next comparison that begins has ended. */
  waiting: (() => void)[];
}

export type Comparisons = ReturnType<typeof createComparisons>;

export function createComparisons(deps: ComparisonsDeps) {
  const { compare, onFailure, isResult, permits, clock } = deps;
  const comparisons = new Map<string, Comparison>();
  const running = new Set<Promise<void>>();
  const ending = new AbortController();
  const { signal } = ending;

  function comparisonOf(key: string): Comparison {
    const known = comparisons.get(key);
    if (known !== undefined) return known;
    const fresh: Comparison = {
      startedAtMs: Number.NEGATIVE_INFINITY,
      failures: 0,
      isRunning: false,
      isStale: false,
      waiting: [],
    };
    comparisons.set(key, fresh);
    return fresh;
  }

  /** The object was created, changed or deleted. */
  function request(key: string): void {
    if (signal.aborted) return;
    const comparison = comparisonOf(key);
    comparison.isStale = true;
    if (!comparison.isRunning) start(key, comparison.startedAtMs + intervalMs - clock.monotonic());
  }

  function start(key: string, delayMs: number): void {
    const comparison = comparisonOf(key);
    comparison.timer?.cancel();
    comparison.timer = undefined;
    if (delayMs > 0) {
      comparison.timer = clock.setTimeout(() => start(key, 0), delayMs);
      return;
    }
    const run = runOne(key, comparison).finally(() => running.delete(run));
    running.add(run);
  }

  async function runOne(key: string, comparison: Comparison): Promise<void> {
    comparison.isRunning = true;
    let delayMs: number | undefined;
    let answered: readonly (() => void)[] = [];
    try {
      await permits.run(async () => {
        signal.throwIfAborted();
        answered = comparison.waiting;
        comparison.waiting = [];
        comparison.startedAtMs = clock.monotonic();
        comparison.isStale = false;
        await compare(key, signal);
      });
      comparison.failures = 0;
    } catch (thrown) {
      if (signal.aborted) {
        comparison.waiting.push(...answered);
        return;
      }
      comparison.failures += 1;
      delayMs = backoffDelayMs(retries, comparison.failures);
      onFailure(key, thrown);
      if (!isResult(thrown)) {
        comparison.waiting.push(...answered);
        answered = [];
      }
    }
    for (const resolve of answered) resolve();
    comparison.isRunning = false;
    if (signal.aborted) return;
    if (comparison.isStale) request(key);
    else if (delayMs !== undefined) start(key, delayMs);
  }

  return {
    request,
    /** Compares an object again; resolves when a comparison that began since then has ended, or all of them. */
    async refresh(key: string): Promise<void> {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      comparisonOf(key).waiting.push(resolve);
      request(key);
      await promise;
    },
    /** Aborts those in progress; resolves when they have ended. */
    async end(): Promise<void> {
      ending.abort();
      for (const { timer } of comparisons.values()) timer?.cancel();
      await Promise.all(running);
      for (const { waiting } of comparisons.values()) for (const resolve of waiting) resolve();
    },
  };
}
