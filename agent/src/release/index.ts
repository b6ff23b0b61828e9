export {
  type Action,
  actionFor,
  defaultLockTimeoutMs,
  type RollbackTarget,
} from "./action.ts";
export { type ReleaseProgress, releaseConditions } from "./conditions.ts";
export {
  type AttemptedAction,
  type FailurePolicy,
  failurePolicy,
  isExhausted,
} from "./failure-policy.ts";
export {
  type Desired,
  determineState,
  isInSync,
  isOwnLock,
  type ObservedDrift,
  type ReadinessDeadline,
  type ReleaseState,
  type TestResult,
} from "./release-state.ts";
