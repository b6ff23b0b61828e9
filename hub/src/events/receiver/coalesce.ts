/**
 * Coalesces requests by key: the first runs at once, requests within the interval share one run at its end. Every request gets a
 * run that starts after it.
 */
import type { Clock } from "@flotilla/shared/time";

export interface CoalesceOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly run: (key: string) => Promise<void>;
}

interface Latest {
  /** Settles when the next run may start. */
  readonly over: Promise<void>;
  /** The next run, once it is requested. */
  next: Promise<void> | undefined;
}

export function createCoalescer({ clock, intervalMs, run }: CoalesceOptions) {
  const latest = new Map<string, Latest>();

  function begin(key: string): Promise<void> {
    const result = run(key);
    const interval = new Promise<void>((resolve) => void clock.setTimeout(resolve, intervalMs));
    const over = Promise.all([result.catch(() => undefined), interval]).then(() => undefined);
    const own: Latest = { over, next: undefined };
    latest.set(key, own);
    void over.then(() => {
      if (own.next === undefined && latest.get(key) === own) latest.delete(key);
    });
    return result;
  }

  /** Resolves when a run that started after the call has ended; rejects with its error. */
  return function request(key: string): Promise<void> {
    const current = latest.get(key);
    if (current === undefined) return begin(key);
    current.next ??= current.over.then(() => begin(key));
    return current.next;
  };
}
