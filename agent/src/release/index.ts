export { type Action, actionFor, defaultLockTimeoutMs } from "./action.ts";
export { type Desired, determineState, isInSync, isOwnLock } from "./release-state.ts";
