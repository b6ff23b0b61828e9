export type { Condition } from "../../kubernetes/objects/index.ts";
export {
  actionOptions,
  apiOptions,
  contentOptions,
  type FieldText,
  withText,
} from "./action-options.ts";
export { type AgentCapability, agentCapabilities } from "./agent-capabilities.ts";
export {
  type Bundle,
  type BundleSpec,
  type BundleStatus,
  bundleSchemas,
  type ChartPin,
} from "./bundle.ts";
export {
  type BundleDeployment,
  type BundleDeploymentStatus,
  bundleDeploymentSchemas,
  copyOf,
  formatObjectRef,
  type ObjectRef,
  objectRefSchema,
  parseObjectRef,
  placeOnHub,
  type ReleaseRevision,
  type RequestStatus,
} from "./bundle-deployment.ts";
export {
  type BundleDeploymentOptions,
  bundleDeploymentOptionsFields,
} from "./bundle-deployment-options.ts";
export {
  type BundleNamespaceMapping,
  type BundleNamespaceMappingStatus,
  bundleNamespaceMappingSchema,
  bundleNamespaceMappingStatusSchema,
} from "./bundle-namespace-mapping.ts";
export {
  type BundleOrigin,
  type SourceAccess,
  type SourceProvenance,
  sourceAccessSchema,
} from "./bundle-origin.ts";
export { type BundleTarget, clusterCriteriaFields, targetsSchema } from "./bundle-target.ts";
export {
  type Cluster,
  type ClusterAgent,
  type ClusterStatus,
  clusterSchemas,
  maxOrphans,
} from "./cluster.ts";
export {
  type ClusterGroup,
  type ClusterGroupStatus,
  clusterGroupSchemas,
} from "./cluster-group.ts";
export { isManagedElsewhere } from "./cluster-management.ts";
export {
  type ClusterRegistrationToken,
  type ClusterRegistrationTokenStatus,
  clusterRegistrationTokenSchemas,
  maxRemovedClients,
} from "./cluster-registration-token.ts";
export { conditionsSchema } from "./condition.ts";
export { describeRequest } from "./describe-request.ts";
export type { DriftOptions } from "./drift-detection.ts";
export {
  described,
  type FieldMeta,
  fields,
  flag,
  integer,
  list,
  plainFlag,
  plainText,
  type Typed,
  text,
} from "./field.ts";
export {
  type HelmOp,
  type HelmOpStatus,
  helmOpSchemas,
  maxCountedClusters,
  maxResources,
} from "./helm-op.ts";
export type { HelmOptions } from "./helm-options.ts";
export { type LabelSelector, labelSelectorSchema, selects } from "./label-selector.ts";
export { type Policy, policySchema, type RequiredGate } from "./policy.ts";
export {
  answerLines,
  deploymentSelector,
  type RequestAnswer,
  requestAnswers,
} from "./request-answers.ts";
export { type PinCheck, type ResolutionStatus, resolutionSchema } from "./resolution.ts";
export {
  apiVersion,
  bundleDeployments,
  bundleNamespaceMappings,
  bundles,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  helmOps,
  policies,
  schedules,
} from "./resources.ts";
export {
  type FailureAction,
  failureActions,
  type GateType,
  gateTypes,
  maxGateConfigBytes,
  maxGates,
  maxStages,
  maxWindows,
  type RolloutStage,
  type StageGate,
  type StageWindow,
} from "./rollout-stages.ts";
export {
  type Promotion,
  promotionSchema,
  type RolloutSummary,
  rolledOutCondition,
  rolledOutText,
  rolloutPhases,
  rolloutSummarySchema,
  rolloutSummaryText,
} from "./rollout-status.ts";
export {
  type RolloutStrategy,
  rolloutPolicyFields,
  rolloutStrategySchema,
} from "./rollout-strategy.ts";
export {
  type Schedule,
  type ScheduleStatus,
  scheduleSchemas,
} from "./schedule.ts";
export {
  type BundleState,
  type BundleSummary,
  bundleStateOf,
  bundleStates,
  bundleSummarySchema,
  type DriftEvent,
  type LastResults,
  type LastSuccess,
  lastResultsSchema,
  lastResultsText,
  lastSuccessSchema,
  lastSuccessText,
  type ModifiedStatus,
  maxListed,
  maxListedOfOne,
  type NonReadyStatus,
  type OfflineCluster,
  type ResourceCounts,
  type ResourceStateName,
  resourceStates,
} from "./summary.ts";
export { type UnknownFields, unknownFields } from "./unknown-fields.ts";
export { rolloutStrategyRules, type ValidationRule } from "./validation-rules.ts";
