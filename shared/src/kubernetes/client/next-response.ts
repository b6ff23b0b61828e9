/**
 * Wakes callers in backoff when any request shows that the server responds again.
 *
 * At most twice a minute: a server that responds to some requests and cuts others must not make all callers retry with each
 * response.
 */
import type { Clock } from "../../runtime/time/index.ts";

export interface ResponseNotifier {
  /** The server has responded. */
  notify(): void;
  /** Resolves at the next response that counts, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

const intervalMs = 30_000;

export function createResponseNotifier(clock: Clock): ResponseNotifier {
  let waiting = new Set<() => void>();
  let notifiedAt = Number.NEGATIVE_INFINITY;
  return {
    notify() {
      if (waiting.size === 0 || clock.monotonic() - notifiedAt < intervalMs) return;
      notifiedAt = clock.monotonic();
      const notified = waiting;
      waiting = new Set();
      for (const resolve of notified) resolve();
    },
    wait(signal) {
      return new Promise((resolve) => {
        const finish = (): void => {
          waiting.delete(finish);
          signal.removeEventListener("abort", finish);
          resolve();
        };
        if (signal.aborted) {
          resolve();
          return;
        }
        waiting.add(finish);
        signal.addEventListener("abort", finish, { once: true });
      });
    },
  };
}
