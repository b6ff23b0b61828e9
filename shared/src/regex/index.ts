export { createPatterns, type Patterns } from "./patterns.ts";
