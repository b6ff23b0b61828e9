export { createPatternBudget, type PatternBudget } from "./budget.ts";
export { createPatterns, type MatchWithin, type Patterns } from "./patterns.ts";
