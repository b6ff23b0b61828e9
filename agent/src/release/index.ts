export {
  type Action,
  actionFor,
  type Circumstances,
  defaultLockTimeoutMs,
  type RollbackTarget,
} from "./action.ts";
export { applyRemarks } from "./apply-remarks.ts";
export { type ReleaseProgress, releaseConditions } from "./conditions.ts";
export {
  type AttemptedAction,
  type FailurePolicy,
  failurePolicy,
  failuresOf,
  isExhausted,
} from "./failure-policy.ts";
export { type ReleaseReason, reasonsOf } from "./release-reason.ts";
export {
  type Desired,
  determineState,
  isInSync,
  isOwnLock,
  type Observed,
  type ObservedDrift,
  type ReadinessDeadline,
  type ReleaseState,
  type TestResult,
} from "./release-state.ts";
export { requestResult, revisionName } from "./request-result.ts";
