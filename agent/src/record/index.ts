export {
  keepPolicy,
  policyAnnotation,
  type ReleasedCrd,
  withoutAdditions,
} from "./crd-documents.ts";
export type { OwnedObject } from "./manifest.ts";
export type { ReadRecords } from "./read-records.ts";
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
  hasManifestOf,
  manifestDigest,
  maxReleaseBytes,
  withManifest,
} from "./stored-release.ts";
