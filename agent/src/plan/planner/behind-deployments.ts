/** Plans are made one at a time, and behind deployments: none begins while Helm installs something, unless that takes long. */
import { createSemaphore } from "@flotilla/shared/concurrency";
import type { Clock } from "@flotilla/shared/time";

export interface PlanQueue {
  /** Runs what deployments do. It waits for nothing. */
  deploying<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a plan. Rejects with the reason of `signal` if that aborts before it has begun. */
  planning<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** What waits for its hooks for minutes leaves processors, and Helm runs with a low priority for plans. */
const longestWaitMs = 10_000;

export function createPlanQueue({ clock }: { readonly clock: Clock }): PlanQueue {
  const permits = createSemaphore(1);
  const waiting = new Set<() => void>();
  let deployments = 0;

  /** Never rejects. */
  async function untilIdle(signal: AbortSignal): Promise<void> {
    if (deployments === 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.setTimeout(resolve, longestWaitMs);
    waiting.add(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    waiting.delete(resolve);
    timer.cancel();
  }

  return {
    async deploying(work) {
      deployments += 1;
      try {
        return await work();
      } finally {
        deployments -= 1;
        if (deployments === 0) for (const resolve of waiting) resolve();
      }
    },
    planning: (work, signal) =>
      permits.run(async () => {
        await untilIdle(signal);
        signal.throwIfAborted();
        return await work();
      }),
  };
}
