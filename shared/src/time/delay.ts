/** Waiting that can be given up. */
import type { Clock } from "./clock.ts";

/** Resolves after `delayMs`, or at once when `signal` aborts: the caller looks at the signal, nothing is thrown. */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = clock.setTimeout(finish, delayMs);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
