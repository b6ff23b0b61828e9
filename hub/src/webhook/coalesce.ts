/**
 * Runs something for a key at once, and then at most once in a while: all who ask in between share one run at its end. So
 * a flood costs little, the first is never delayed, and whoever asks gets a run that begins after they asked.
 */
import type { Clock } from "@flotilla/shared/time/clock.ts";

export interface CoalesceOptions {
  readonly clock: Clock;
  readonly restMs: number;
  readonly run: (key: string) => Promise<void>;
}

interface Latest {
  /** Settles once it may be followed by another one. */
  readonly over: Promise<void>;
  /** The one that follows, once somebody has asked for it. */
  next: Promise<void> | undefined;
}

export function createCoalescer({ clock, restMs, run }: CoalesceOptions) {
  const latest = new Map<string, Latest>();

  function begin(key: string): Promise<void> {
    const result = run(key);
    const rest = new Promise<void>((resolve) => void clock.setTimeout(resolve, restMs));
    const over = Promise.all([result.catch(() => undefined), rest]).then(() => undefined);
    const own: Latest = { over, next: undefined };
    latest.set(key, own);
    void over.then(() => {
      if (own.next === undefined && latest.get(key) === own) latest.delete(key);
    });
    return result;
  }

  /** Resolves when a run has ended that began after this was called; rejects with what it failed with. */
  return function request(key: string): Promise<void> {
    const current = latest.get(key);
    if (current === undefined) return begin(key);
    current.next ??= current.over.then(() => begin(key));
    return current.next;
  };
}
