export {
  fleetOf,
  type SimulatedCluster,
  type SimulatedRollout,
  simulateRollout,
} from "./simulated-rollout.ts";
