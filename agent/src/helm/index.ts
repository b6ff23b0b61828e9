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
} from "./action-options.ts";
export {
  isReleaseNotFound,
  rollbackArgs,
  testArgs,
  uninstallArgs,
  upgradeArgs,
  withOptions,
} from "./commands.ts";
export { helmFieldManager, isMarked, ownershipMarks } from "./ownership.ts";
export { writePodKubeconfig } from "./pod-kubeconfig.ts";
export { createProcessRecords } from "./process-records.ts";
export { startOfProcess } from "./process-start.ts";
export {
  hasFailedToReplace,
  type ImmutableRefusal,
  immutableRefusals,
  lacksMergeKey,
  refusedText,
  structuralRefusal,
} from "./refusals.ts";
export {
  isLocked,
  type ReleaseKey,
  type ReleaseRecord,
  readLabelledRecord,
  recordOf,
  recordSecretName,
  releaseLabels,
  secretText,
  storedValue,
} from "./release-record.ts";
export { createReleases, type Releases } from "./releases.ts";
export {
  createRunHelm,
  type HelmProgram,
  type HelmResult,
  helmEnvironment,
  helmErrorOf,
  helmFailureOf,
  type RunHelm,
} from "./run-helm.ts";
export { createStoredReleases, type StoredReleases } from "./stored-releases.ts";
