export { withDefaults } from "./defaults.ts";
export {
  forbidsNamespaces,
  type HubRules,
  lendersOf,
  limitsRepositories,
  type MergedPolicy,
  mergePolicies,
  policiesIn,
} from "./merge-policies.ts";
export { recordViolation } from "./record-violation.ts";
export { usedByBundle, usedByHelmOp } from "./used.ts";
export { violationOf } from "./violation.ts";
