export {
  type BuildTask,
  definitionsReply,
  inspectReply,
  performBuildTask,
} from "./chartbuild/build-task.ts";
export { buildLimits } from "./chartbuild/chart-files.ts";
export { downloadFile } from "./chartbuild/download-file.ts";
export { type BuildCharts, createFetchArchive } from "./chartbuild/fetch-archive.ts";
export {
  type RollbackOptions,
  rollbackOptions,
  type TestOptions,
  takesOwnership,
  testOptions,
  type UninstallFlags,
  type UpgradeOptions,
  uninstallFlags,
  upgradeOptions,
} from "./cli/action-options.ts";
export {
  isReleaseNotFound,
  rollbackArgs,
  testArgs,
  uninstallArgs,
  upgradeArgs,
  withOptions,
} from "./cli/commands.ts";
export { helmFieldManager, isMarked, ownershipMarks } from "./cli/ownership.ts";
export { writePodKubeconfig } from "./cli/pod-kubeconfig.ts";
export { createProcessRecords } from "./cli/process-records.ts";
export { startOfProcess } from "./cli/process-start.ts";
export {
  applyConflictOf,
  hasFailedToReplace,
  type ImmutableRefusal,
  immutableRefusals,
  lacksDryRun,
  lacksKind,
  lacksMergeKey,
  refusedStructure,
  refusedText,
  rejectedFieldOf,
  structuralRefusal,
} from "./cli/refusals.ts";
export {
  helmOwnerSelector,
  isLocked,
  knownRecord,
  type ReleaseKey,
  type ReleaseRecord,
  readLabelledRecord,
  recordOf,
  recordSecretName,
  releaseLabels,
  secretText,
  storedValue,
} from "./cli/release-record.ts";
export { createReleases, type Releases } from "./cli/releases.ts";
export {
  createRunHelm,
  type HelmProgram,
  type HelmResult,
  helmEnvironment,
  helmErrorOf,
  helmFailureOf,
  type RunHelm,
} from "./cli/run-helm.ts";
export { createStoredReleases, type StoredReleases } from "./cli/stored-releases.ts";
export {
  type ApplyChartCrds,
  chartDefinitions,
  createApplyChartCrds,
  type WithDefinitions,
} from "./crds/chart-crds.ts";
export { type CrdPolicy, type CrdRetention, createCrdRetention } from "./crds/crd-retention.ts";
export { desiredCrd } from "./crds/desired-crd.ts";
export { checkNamespace } from "./namespace/allowed-namespace.ts";
export { deleteCreatedNamespace } from "./namespace/delete-namespace.ts";
export {
  applyNamespaceMetadata,
  ensureNamespace,
  markNamespace,
} from "./namespace/release-namespace.ts";
export {
  createPostRenderers,
  type KustomizeProgram,
  type WithPostRenderers,
} from "./postrender/post-renderers.ts";
export { chartCrdSchema } from "./record/chart-crds.ts";
export { keepPolicy, policyAnnotation } from "./record/crd-documents.ts";
export { type HelmHook, type HookObject, hookReply } from "./record/hooks.ts";
export type { KindChange } from "./record/kind-changes.ts";
export type { OwnedObject } from "./record/manifest.ts";
export { type ReadRecords, readHooks } from "./record/read-records.ts";
export {
  type ManifestUse,
  type ManifestUses,
  performRecordTask,
  type ReadLimits,
  type RecordTask,
  TooLongError,
} from "./record/record-task.ts";
export {
  type HelmTest,
  hasHooks,
  hasManifestOf,
  isSameContent,
  manifestDigest,
  maxReleaseBytes,
  type StoredRelease,
} from "./record/stored-release.ts";
export { callsSchema, chartCallsSchema } from "./templates/chart-calls.ts";
export { hasSuspects } from "./templates/template-calls.ts";
export {
  type CheckTemplates,
  createTemplateGuard,
  type ReadCalls,
} from "./templates/template-guard.ts";
