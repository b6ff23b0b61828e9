export {
  type Breach,
  type BundleRollout,
  type BundleRolloutSpec,
  type BundleRolloutStatus,
  bundleRolloutSchemas,
  type PinnedTarget,
  type ReleaseTests,
  type RolloutReason,
} from "./bundle-rollout.ts";
export {
  type Gate,
  type GateDecision,
  type GateSpec,
  gateSchemas,
  type PlanSummary,
} from "./gate.ts";
export { gateRules } from "./gate-rules.ts";
export {
  gateLabel,
  rolloutBundleLabel,
  rolloutLabel,
  stageLabel,
} from "./labels.ts";
export { maxNamed } from "./references.ts";
export { bundleRollouts, gates, rolloutApiVersion, rolloutPolicies } from "./resources.ts";
export {
  type RolloutPolicy,
  rolloutPolicySchemas,
} from "./rollout-policy.ts";
export {
  type FailingCluster,
  type GateRecord,
  maxApprovedDiffs,
  maxFailureMessageLength,
  type RolloutCounts,
  type StagePhase,
  type StageStatus,
  type StoredDecision,
} from "./stage-status.ts";
