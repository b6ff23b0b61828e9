export {
  type Breach,
  type BundleRollout,
  type BundleRolloutSpec,
  type BundleRolloutStatus,
  bundleRolloutSchemas,
  maxSkipped,
  type PinnedTarget,
  type RolloutReason,
  type RolloutState,
  rolloutReasons,
  rolloutStates,
} from "./bundle-rollout.ts";
export {
  type DecisionResult,
  decisionResults,
  type Gate,
  type GateDecision,
  type GateSpec,
  type GateStatus,
  gateSchemas,
  type PlanSummary,
} from "./gate.ts";
export { decidedByPeople, gateRules } from "./gate-rules.ts";
export {
  gateLabel,
  rolloutBundleLabel,
  rolloutLabel,
  rolloutPolicyAnnotation,
  stageLabel,
} from "./labels.ts";
export { maxNamed } from "./references.ts";
export { bundleRollouts, gates, rolloutApiVersion, rolloutPolicies } from "./resources.ts";
export { type RolloutPolicy, type RolloutPolicySpec, rolloutPolicySchemas } from "./rollout-policy.ts";
export {
  type FailingCluster,
  type GateRecord,
  type GateResult,
  gateResults,
  maxFailureMessageLength,
  type RolloutCounts,
  type StagePhase,
  type StageStatus,
  type StoredDecision,
  stagePhases,
} from "./stage-status.ts";
