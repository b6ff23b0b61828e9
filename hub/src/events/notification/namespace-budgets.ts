/**
 * What the sources, or the expressions, of the Alerts of each namespace may take: for one event, and over time, because
 * the author of an Alert may also cause events.
 */
import { createTimeBudgets } from "@flotilla/shared/concurrency";
import { createPatternBudget, type PatternBudget } from "@flotilla/shared/regex";
import type { Clock } from "@flotilla/shared/time";

/** For one event, in ms of processor time. */
const eventMs = 100;
const overTime = { burstMs: 1_000, msPerSecond: 100, maxKeys: 1_000 };

/** What one event may use. */
export interface EventBudgets {
  /** The same for all calls with a namespace. */
  of(namespace: string): PatternBudget;
  /** To be called once: what was spent counts from then on. */
  end(): void;
}

export function createNamespaceBudgets(clock: Pick<Clock, "monotonic">) {
  const left = createTimeBudgets(clock, overTime);

  return {
    begin(): EventBudgets {
      const begun = new Map<string, { readonly budget: PatternBudget; readonly givenMs: number }>();
      return {
        of(namespace) {
          const found = begun.get(namespace);
          if (found !== undefined) return found.budget;
          const givenMs = Math.min(eventMs, left.leftMs(namespace));
          const budget = createPatternBudget(givenMs);
          begun.set(namespace, { budget, givenMs });
          return budget;
        },
        end() {
          for (const [namespace, { budget, givenMs }] of begun)
            left.spend(namespace, givenMs - budget.leftMs);
        },
      };
    },
  };
}
