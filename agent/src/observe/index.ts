export { changedPointers } from "./drift/compare-objects.ts";
export { deleteObject } from "./drift/delete-object.ts";
export { changedFields, type DriftText, describeDrift } from "./drift/describe-drift.ts";
export { desiredObject } from "./drift/desired-object.ts";
export type { DriftObject } from "./drift/drift.ts";
export { DriftTracker } from "./drift/drift-tracker.ts";
export type { DriftInput } from "./drift/followed-release.ts";
export {
  isFields,
  isWithin,
  pointerOf,
  replacedAt,
  segmentsOf,
  valueAt,
} from "./drift/json-pointer.ts";
export { mergePatchOf } from "./drift/merge-patch.ts";
export { dryRunApply } from "./drift/object-access.ts";
export { objectDiff } from "./drift/object-diff.ts";
export { checkCreation, isKept, propagationOf } from "./drift/recreation.ts";
export { builtInKind } from "./readiness/built-in-kinds.ts";
export { createDiscovery } from "./readiness/discovery.ts";
export type { IgnoredConditions } from "./readiness/ignored-conditions.ts";
export { statusOf } from "./readiness/object-status.ts";
export { toWorkload } from "./readiness/pods/index.ts";
export type { Readiness } from "./readiness/readiness.ts";
export type { SharedObject } from "./readiness/shared-objects.ts";
export { onlyMetadata } from "./readiness/slim-object.ts";
export { ReadinessTracker } from "./readiness/tracker.ts";
export { composeStates, type ReportedRelease } from "./report/compose-states.ts";
export {
  type DeploymentResult,
  toBundleState,
  toDeploymentState,
} from "./report/deployment-state.ts";
export { createFetchedSources, type FetchedSources } from "./report/fetched-sources.ts";
export { createOutbox, type Outbox, type StreamOutbox } from "./report/outbox.ts";
export { toReportedDrift } from "./report/reported-drift.ts";
