export { judge, type PolicyDeps, policiesFor, withDefaultsOf } from "./judge.ts";
export {
  forbidsNamespaces,
  type HubRules,
  limitsRepositories,
  type MergedPolicy,
} from "./merge-policies.ts";
export { recordViolation } from "./record-violation.ts";
