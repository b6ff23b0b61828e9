/**
 * The work that the expressions of one evaluation may do together, over all of them and all texts. Each alone has a limit, but
 * one who writes one can write a thousand, or have a thousand texts.
 */

/** Matching one unit takes about 0.04 µs. */
export interface PatternBudget {
  /** Before work of this many units; false: it is not to be done. */
  take(units: number): boolean;
  readonly leftMs: number;
}

const unitsOfMs = 25_000;

export function createPatternBudget(milliseconds: number): PatternBudget {
  let left = milliseconds * unitsOfMs;
  return {
    take(units) {
      if (units > left) {
        // What comes after a piece of work that was not done would be an answer by chance.
        left = 0;
        return false;
      }
      left -= units;
      return true;
    },
    get leftMs() {
      return left / unitsOfMs;
    },
  };
}
