export {
  appOf,
  appOfFleet,
  appRefOf,
  appRefOfDeployment,
  explained,
  refOf,
} from "./appview/app-of.ts";
export { type AppView, type AppViews, appObject, type Watched } from "./appview/app-view.ts";
export { chartsOf } from "./appview/charts-of.ts";
export { shownConditions, shownPolling } from "./appview/conditions.ts";
export { driftText } from "./appview/drift-text.ts";
export { buildContent, releaseNamespace, valuesSources } from "./content/build-content.ts";
export {
  type ContentReader,
  type ContentStore,
  createContentStore,
} from "./content/content-store.ts";
export {
  createDeploymentSigner,
  createDeploymentTrust,
  type DeploymentSigner,
  type DeploymentTrust,
  signatureOf,
} from "./content/deployment-signature.ts";
export { bundleLabels } from "./content/labels.ts";
export { type DataSigner, planKey } from "./content/plan-key.ts";
export {
  type ConditionState,
  chartNotResolved,
  holds,
  isWorthPublishing,
  notAccepted,
} from "./frontend/accepted.ts";
export {
  chartReferenceOf,
  chartReferences,
  entryFor,
  mayReferenceChart,
} from "./frontend/charts.ts";
export { dependencyCountProblem } from "./frontend/dependency-count.ts";
export { createDriftBudget, driftOptionsProblem } from "./frontend/drift-options.ts";
export {
  deleteBundle,
  isOwnBundle,
  nameTaken,
  type OwnBundleDeps,
  ownBundle,
  ownBundleKey,
  setSuspended,
} from "./frontend/own-bundle.ts";
export { bundleOf, bundleSpecOf, type ResolvedCharts } from "./frontend/planned-bundle.ts";
export {
  type PlannedRelease,
  type ReleaseSpec,
  releaseOfBundle,
  releaseOfHelmOp,
} from "./frontend/planned-release.ts";
export {
  ignoredFieldRemarks,
  remarksOn,
  remarksOnBundle,
  unknownFieldRemarks,
} from "./frontend/remarks.ts";
export { reservedFormProblem } from "./frontend/reserved-forms.ts";
export { writeBundle } from "./frontend/write-bundle.ts";
export { mappingProblem, mapsBundle, mapsNamespace } from "./mapping/judged-mapping.ts";
export { createMappings, type MappingSources, type Mappings } from "./mapping/mappings.ts";
export { type Reach, reachOf } from "./mapping/reach.ts";
export { appMetrics } from "./metrics/app-metrics.ts";
export {
  createReconcileDurations,
  type ReconcileDurations,
} from "./metrics/reconcile-durations.ts";
export { rolloutMetrics } from "./metrics/rollout-metrics.ts";
export { createSeriesRegistry, type SeriesMetric, type SeriesRegistry } from "./metrics/series.ts";
export { statusMetrics } from "./metrics/status-metrics.ts";
export { allowedNamespacesViolation } from "./policy/allowed-namespaces.ts";
export { judge, type PolicyDeps, policiesFor, withDefaultsOf } from "./policy/judge.ts";
export {
  forbidsNamespaces,
  type HubRules,
  limitsRepositories,
  type MergedPolicy,
  policiesIn,
} from "./policy/merge-policies.ts";
export { recordViolation } from "./policy/record-violation.ts";
export {
  isProtected,
  type RequiredGateViolation,
  requiredGateViolation,
  requiresGates,
} from "./policy/required-gates.ts";
export type { ProjectSecret } from "./referenced/object-entries.ts";
export {
  planReferencedObject,
  planReferencedObjects,
  type ReferencedPlan,
  type ReferencedSource,
  type References,
} from "./referenced/plan.ts";
export {
  changedReferences,
  clusterInfoOf,
  isAnother,
  isClusterInfoChange,
  onHub,
  watchReferences,
} from "./referenced/references.ts";
export { createWatchedObjects } from "./referenced/watch-objects.ts";
export { isUsableByTenants, type WorkspaceObject } from "./referenced/workspace-object.ts";
export { WorkspaceObjects } from "./referenced/workspace-objects.ts";
export type { ResolutionState } from "./resolve/attempt.ts";
export { type ChartAccess, createChartAccess, watchSecrets } from "./resolve/chart-access.ts";
export {
  attemptText,
  type ChartResolver,
  createChartResolver,
  isAllPinned,
  requeueAt,
} from "./resolve/chart-resolver.ts";
export { failureText, watchAttempt } from "./resolve/long-attempt.ts";
export { isFetchFailureChange } from "./resolve/pin-check.ts";
export { createPinSigner, type PinSigner } from "./resolve/pin-signature.ts";
export { slotAfter, slotOffset } from "./resolve/poll-slots.ts";
export { mayChange, pollingIntervalMs } from "./resolve/polling.ts";
export { handledOf, openRequests, type Requests } from "./resolve/requests.ts";
export { notesOn, resolveCharts } from "./resolve/resolve-charts.ts";
export { type AwaitedApps, createAwaitedApps } from "./rollout/awaited-apps.ts";
export { explainStage } from "./rollout/explain-stage.ts";
export { type HoldReason, isLimitReason, type PauseReason } from "./rollout/hold.ts";
export { createMissingReferences, type MissingReferences } from "./rollout/missing-references.ts";
export {
  isStrategy,
  listedMembers,
  partitionsOf,
} from "./rollout/partitions.ts";
export {
  isLimiting,
  mayHold,
  type PartitionPlan,
  planPartitions,
  type RolloutDeployment,
} from "./rollout/plan-partitions.ts";
export {
  type RolloutFields,
  rolloutFields,
  rolloutRemarks,
} from "./rollout/rollout-status.ts";
export { createRolloutStrategies, type RolloutStrategies } from "./rollout/rollout-strategies.ts";
export {
  assignStages,
  atLeastOne,
  isStaged,
  roundedDown,
  stagesOf,
} from "./rollout/stages.ts";
export { maxPinnedBytes, stagesProblem } from "./rollout/stages-problem.ts";
export { strategyProblem } from "./rollout/strategy-problem.ts";
export { createInlineWindows } from "./schedule/inline-windows.ts";
export { isGroupMember, namesGroups } from "./schedule/judged-schedule.ts";
export {
  anyOpen,
  closed,
  type HoldsFrom,
  nextOpening,
  type Opening,
} from "./schedule/next-opening.ts";
export {
  type Coverage,
  createSchedules,
  isClosed,
  type Schedules,
} from "./schedule/schedules.ts";
export {
  type Aggregates,
  createAggregates,
  isCountingChange,
  isPresenceChange,
} from "./summary/aggregates.ts";
export { type Archives, differingArchives } from "./summary/archives.ts";
export {
  type Aggregate,
  commonVersion,
  createDeploymentAggregates,
  worstOf,
} from "./summary/bundle-aggregate.ts";
export {
  artifactFailed,
  chartNotFetched,
  isAboutDesired,
  stateOf,
  stateWhileOffline,
  valuesError,
} from "./summary/deployment-state.ts";
export type { GroupAggregate } from "./summary/group-aggregate.ts";
export { isOtherDrift, isOtherFailure, isOtherTest } from "./summary/last-results.ts";
export { isOtherSuccess } from "./summary/last-success.ts";
export { idOf } from "./summary/object-states.ts";
export { modifiedText, objectText } from "./summary/object-text.ts";
export { type OfflineClusters, offlineFields } from "./summary/offline-clusters.ts";
export { bundleReady, summaryReady } from "./summary/ready-condition.ts";
export { summedConditionTypes } from "./summary/release-conditions.ts";
export { formatReleaseId, parseReleaseId } from "./summary/release-id.ts";
export { rollUp } from "./summary/roll-up.ts";
export { rollUpBundle, rollUpObjects, worstDeployments } from "./summary/roll-up-bundle.ts";
export { hasNoRetriesLeft } from "./summary/stalled.ts";
export { countIn, countsText, summarize, unheardText, worstState } from "./summary/summarize.ts";
export { explainTarget, nameOfTarget, selectorText } from "./targeting/explain.ts";
export {
  customizationsOf,
  type TargetCluster,
  type TargetGroup,
  targetsFor,
  targetsOf,
  targetsOfEach,
  toTargetCluster,
  toTargetGroup,
} from "./targeting/match.ts";
export { mergeOptions } from "./targeting/merge.ts";
export { missing } from "./targeting/missing.ts";
export { selectorProblem } from "./targeting/selector-problem.ts";
export { targetCountProblem } from "./targeting/target-count.ts";
