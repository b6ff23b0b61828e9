export { act } from "./act.ts";
export { contentOf, crdPolicy } from "./assigned-content.ts";
export {
  claimInterruptedRun,
  downstreamObjects,
  inventoryRelease,
  mayBeOf,
  ownerSelector,
  runOf,
  takeOver,
} from "./claims.ts";
export type { Blocked, DeployPass, DeployResult, InSync, LongAction } from "./deploy-pass.ts";
export { canBecomeReady, failedAttemptsAt, RetryError } from "./failed-attempts.ts";
export { createHelmRollback } from "./helm-rollback.ts";
export { createRunHelmTest } from "./helm-test.ts";
export { createHelmUninstall, type HelmUninstall } from "./helm-uninstall.ts";
export { createHelmUpgrade } from "./helm-upgrade.ts";
export { inSync, isUnchanged } from "./in-sync.ts";
export { createLockTimes, type LockTimes, lockedError, lockTimeoutMs } from "./lock-times.ts";
export type { UpgradeDeps } from "./prepare-upgrade.ts";
export { createRecordGuard } from "./record-guard.ts";
export { createRecordsNamespace } from "./records-namespace.ts";
export { throwIfAborted } from "./revision.ts";
export { attemptedOf, type DesiredRelease, policiesOf, type Tools } from "./tools.ts";
export { createUnservedObjects } from "./unserved-objects.ts";
