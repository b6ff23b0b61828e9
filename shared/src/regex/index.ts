export { createPatterns, type Match, type Patterns } from "./patterns.ts";
