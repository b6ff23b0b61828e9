export {
  config,
  pod,
  podThat,
  pods,
  startTracker,
  statusError,
  thing,
  things,
  thingsDiscovery,
} from "./test-tracker.ts";
