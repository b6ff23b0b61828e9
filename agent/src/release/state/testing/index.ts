export {
  type Given,
  lockTimeoutMs,
  nextAction,
  nowMs,
  other,
  owner,
  record,
} from "./next-action.ts";
