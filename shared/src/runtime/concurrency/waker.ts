/** Lets one loop wait until it is woken, a delay has passed or a signal aborts. */
import type { Clock } from "../time/index.ts";

export interface Waker {
  /** Ends the current wait, or the next one when there is none. */
  wake(): void;
  /** Without a delay only `wake` or the signal ends it. Never rejects. */
  wait(waitMs: number | undefined, signal: AbortSignal): Promise<void>;
}

export function createWaker(clock: Clock): Waker {
  let isAwake = false;
  let resume: (() => void) | undefined;

  return {
    wake() {
      isAwake = true;
      resume?.();
    },
    async wait(waitMs, signal) {
      if (!isAwake && !signal.aborted && (waitMs === undefined || waitMs > 0)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        resume = resolve;
        const timer = waitMs === undefined ? undefined : clock.setTimeout(resolve, waitMs);
        signal.addEventListener("abort", resume, { once: true });
        await promise;
        timer?.cancel();
        signal.removeEventListener("abort", resume);
        resume = undefined;
      }
      isAwake = false;
    },
  };
}
