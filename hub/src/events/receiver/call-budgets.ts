/**
 * What the calls of the Receivers of a namespace may take: over time, because the author of a Receiver may also call it, and of
 * memory at a time. Counted from when a caller has shown its proof, so that nobody else can use it up.
 */
import type { Allowance } from "@flotilla/shared/cel";
import { createFairSemaphore, createTimeBudgets } from "@flotilla/shared/concurrency";
import type { Clock } from "@flotilla/shared/time";
import { stepsOfCall } from "./filters.ts";

/** The processor time for bodies that are parsed, objects and filters. */
const overTime = { burstMs: 1_000, msPerSecond: 100, maxKeys: 1_000 };
/** A step is about 50 ns. */
const stepsPerMs = 20_000;
/** 3 MiB of small values take about 50 ms to parse. */
const parsedBytesPerMs = 64 * 1024;

const mebibyte = 1024 * 1024;
/** Bodies of calls until they are answered; a smaller one counts as this, for what else a call has in memory. */
const bodies = { capacity: 96 * mebibyte, share: 24 * mebibyte };
const leastBytes = 256 * 1024;

export interface Call {
  /** Before the body is parsed. */
  countParsing(): void;
  readonly allowance: Allowance;
  readonly end: () => void;
}

export function createCallBudgets(clock: Pick<Clock, "monotonic">) {
  const budgets = createTimeBudgets(clock, overTime);
  const memory = createFairSemaphore(bodies);

  return {
    /** To be called once, when the call is answered: `end`. Undefined: the namespace has used up what it may take now. */
    begin(namespace: string, bodyBytes: number): Call | undefined {
      if (budgets.leftMs(namespace) <= 0) return undefined;
      const weight = Math.max(leastBytes, bodyBytes);
      const end = memory.tryTake({ caller: namespace, weight });
      if (end === undefined) return undefined;
      let left = stepsOfCall;
      const steps = () => (budgets.leftMs(namespace) > 0 ? left : 0);
      return {
        end,
        countParsing: () => budgets.spend(namespace, bodyBytes / parsedBytesPerMs),
        allowance: {
          get steps() {
            return steps();
          },
          set steps(rest) {
            const used = steps() - rest;
            budgets.spend(namespace, used / stepsPerMs);
            left -= used;
          },
        },
      };
    },
  };
}
