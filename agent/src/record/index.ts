export { chartCrdSchema } from "./chart-crds.ts";
export {
  keepPolicy,
  policyAnnotation,
  type ReleasedCrd,
  withoutAdditions,
} from "./crd-documents.ts";
export { type HookObject, hookReply } from "./hooks.ts";
export type { KindChange } from "./kind-changes.ts";
export type { OwnedObject } from "./manifest.ts";
export { type ReadRecords, readHooks } from "./read-records.ts";
export {
  type ManifestUse,
  type ManifestUses,
  performRecordTask,
  type ReadLimits,
  type RecordTask,
  recordTask,
  TooLongError,
} from "./record-task.ts";
export {
  contentDigest,
  type HelmRelease,
  type HelmTest,
  hasHooks,
  hasManifestOf,
  isSameContent,
  manifestDigest,
  maxReleaseBytes,
  type ReleaseChange,
  withManifest,
} from "./stored-release.ts";
