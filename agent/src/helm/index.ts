export { isReleaseNotFound, uninstallArgs, upgradeArgs } from "./commands.ts";
export { headOf, type OwnedObject, objectsOf, ownedObjects } from "./manifest.ts";
export { writePodKubeconfig } from "./pod-kubeconfig.ts";
export { createProcessRecords } from "./process-records.ts";
export { startOfProcess } from "./process-start.ts";
export {
  contentDigest,
  type HelmRelease,
  hasManifestOf,
  isLocked,
  parseRelease,
  type ReleaseKey,
  type ReleaseRecord,
  readLabelledRecord,
  recordSecretName,
  releaseLabels,
} from "./release-record.ts";
export { createReleases, type Releases } from "./releases.ts";
export {
  createRunHelm,
  type HelmProgram,
  type HelmResult,
  helmEnvironment,
  helmErrorOf,
  type RunHelm,
} from "./run-helm.ts";
export { createStoredReleases, type StoredReleases } from "./stored-releases.ts";
