export { createPatternBudget, type PatternBudget } from "./budget.ts";
export {
  compileSize,
  createPatterns,
  type MatchWithin,
  matchSize,
  type Patterns,
  unitsOfCompiling,
} from "./patterns.ts";
