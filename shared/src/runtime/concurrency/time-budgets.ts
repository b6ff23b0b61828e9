/**
 * How long the work for a key may take over time, where those who cause it may cause more: a burst, and then a share of each
 * second. The work itself is measured by its caller, in whatever units it knows.
 */
import { createLruCache } from "../cache/index.ts";
import type { Clock } from "../time/index.ts";

export interface TimeBudgetLimits {
  /** Without a pause. */
  readonly burstMs: number;
  /** What comes back in each second. */
  readonly msPerSecond: number;
  /** Beyond, the budget of the least recently used key is full again. */
  readonly maxKeys: number;
}

export interface TimeBudgets {
  /** What a key may take now; not above zero when it has taken more than it may. */
  leftMs(key: string): number;
  /** Counts work that was done, also beyond what was left. */
  spend(key: string, ms: number): void;
}

export function createTimeBudgets(
  clock: Pick<Clock, "monotonic">,
  { burstMs, msPerSecond, maxKeys }: TimeBudgetLimits,
): TimeBudgets {
  const known = createLruCache<{ readonly ms: number; readonly at: number }>(maxKeys);

  function leftMs(key: string): number {
    const last = known.get(key);
    if (last === undefined) return burstMs;
    const refilledMs = ((clock.monotonic() - last.at) / 1_000) * msPerSecond;
    return Math.min(burstMs, last.ms + refilledMs);
  }

  return {
    leftMs,
    spend: (key, ms) => void known.set(key, { ms: leftMs(key) - ms, at: clock.monotonic() }),
  };
}
