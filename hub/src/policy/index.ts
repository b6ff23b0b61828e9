export { withDefaults } from "./defaults.ts";
export {
  forbidsNamespaces,
  limitsRepositories,
  type MergedPolicy,
  mergePolicies,
} from "./merge-policies.ts";
export { recordViolation } from "./record-violation.ts";
export { violationOf } from "./violation.ts";
