export { type PodReason, podReason } from "./pod-reason.ts";
export { hasEnded, jobStatus, podStatus } from "./pods-and-jobs.ts";
export {
  conditionOf,
  current,
  fieldsOf,
  inProgress,
  isStale,
  listOf,
  type ObjectStatus,
  type RuleInput,
  sayingOf,
  textOf,
  toRuleInput,
} from "./rule-input.ts";
export { crdStatus, pvcStatus, serviceStatus } from "./services-volumes-crds.ts";
export {
  daemonSetStatus,
  deploymentStatus,
  replicaSetStatus,
  statefulSetStatus,
} from "./workloads.ts";
