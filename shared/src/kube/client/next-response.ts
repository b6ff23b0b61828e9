/**
 * Lets whoever waits for a server that was away hear that it answers again, from whichever request finds that out.
 *
 * Told at most twice a minute: a server that answers some requests and cuts others off must not have everybody ask again
 * with each answer.
 */
import type { Clock } from "../../time/clock.ts";

export interface ResponseNotifier {
  /** The server has answered. */
  notify(): void;
  /** Resolves with the next answer that is told, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

const pauseMs = 30_000;

export function createResponseNotifier(clock: Clock): ResponseNotifier {
  let waiting = new Set<() => void>();
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    notify() {
      if (waiting.size === 0 || clock.monotonic() - toldAt < pauseMs) return;
      toldAt = clock.monotonic();
      const told = waiting;
      waiting = new Set();
      for (const resolve of told) resolve();
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
