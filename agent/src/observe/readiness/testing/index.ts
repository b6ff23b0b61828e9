export {
  config,
  pod,
  pods,
  podThat,
  startTracker,
  statusError,
  thing,
  things,
  thingsDiscovery,
} from "./test-tracker.ts";
