export { isReleaseNotFound, uninstallArgs, upgradeArgs } from "./commands.ts";
export { headOf, type OwnedObject, ownedObjects } from "./manifest.ts";
export { writePodKubeconfig } from "./pod-kubeconfig.ts";
export { startOfProcess } from "./process-start.ts";
export {
  type HelmRelease,
  isLocked,
  parseRelease,
  type ReleaseKey,
  type ReleaseRecord,
  recordSecretName,
  releaseLabels,
} from "./release-record.ts";
export { createReleases, type Releases } from "./releases.ts";
export {
  createRunHelm,
  type HelmResult,
  helmEnvironment,
  helmErrorOf,
  type RunHelm,
} from "./run-helm.ts";
export { createRunJournal, type RunJournal } from "./run-journal.ts";
export { createStoredReleases, type StoredReleases } from "./stored-releases.ts";
