export { withDefaults } from "./defaults.ts";
export {
  forbidsNamespaces,
  limitsRepositories,
  type MergedPolicy,
  mergePolicies,
} from "./merge-policies.ts";
export { createPatterns, type Patterns } from "./patterns.ts";
export { recordViolation } from "./record-violation.ts";
export { violationOf } from "./violation.ts";
