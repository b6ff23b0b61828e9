/** What the tables of functions have. */
import type { Patterns } from "../regex/index.ts";
import type { Budget } from "./budget.ts";

export interface CallContext {
  readonly budget: Budget;
  readonly patterns: Patterns;
}

export interface CelFunction {
  /** The fewest arguments, without the receiver of a method. */
  readonly minArgs: number;
  readonly maxArgs: number;
  /** `args`: of a method with the receiver first. */
  call(args: readonly unknown[], context: CallContext): unknown;
}
