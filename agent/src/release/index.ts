export {
  type Action,
  type Desired,
  defaultLockTimeoutMs,
  isInSync,
  isOwnLock,
  nextAction,
} from "./next-action.ts";
