export { isComplete, jobStatus, podStatus } from "./pods-and-jobs.ts";
export {
  conditionOf,
  current,
  fieldsOf,
  inProgress,
  type ObjectStatus,
  type RuleInput,
  toRuleInput,
} from "./rule-input.ts";
export { crdStatus, pvcStatus, serviceStatus } from "./services-volumes-crds.ts";
export {
  daemonSetStatus,
  deploymentStatus,
  replicaSetStatus,
  statefulSetStatus,
} from "./workloads.ts";
