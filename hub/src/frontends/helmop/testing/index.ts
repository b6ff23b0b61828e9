export {
  conditionOf,
  decided,
  failed,
  pollFailed,
  ready,
  settled,
  statusOf,
} from "./test-status.ts";
