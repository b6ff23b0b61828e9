/** The work that one evaluation may do: steps, and as a second bound CPU time. */
import { BudgetExceeded } from "./failures.ts";
import { maxDurationMs, maxSteps } from "./limits.ts";

export interface Budget {
  /** Before work of this many steps. Throws BudgetExceeded. */
  charge(steps: number): void;
  /** Before characters of texts are read or written, which costs less than a step each. */
  chargeText(characters: number): void;
  /** Steps that were charged. */
  readonly used: number;
}

/** For several evaluations together: each has its own budget, and none begins when no steps are left. */
export interface Allowance {
  steps: number;
}

/** What a recovered failure is charged, whose creation costs as much. */
export const stepsPerFailure = 50;

/** Steps between two readings of the clock. */
const stepsPerReading = 1_000;

const charactersPerStep = 64;

/** `cpuMs`: the CPU time of this thread. */
export function createBudget(cpuMs: () => number): Budget {
  const endsAtMs = cpuMs() + maxDurationMs;
  let left = maxSteps;
  let unread = stepsPerReading;

  function charge(steps: number): void {
    left -= steps;
    if (left < 0) throw new BudgetExceeded("steps", `it needs more than ${maxSteps} steps`);
    unread -= steps;
    if (unread > 0) return;
    unread = stepsPerReading;
    if (cpuMs() > endsAtMs)
      throw new BudgetExceeded("time", `it takes more than ${maxDurationMs} ms of CPU`);
  }

  return {
    charge,
    get used() {
      return maxSteps - left;
    },
    chargeText: (characters) => charge(Math.ceil(characters / charactersPerStep)),
  };
}
