export { randomHistory } from "./history.ts";
export {
  canaryLabels,
  canaryThenProd,
  clusterOf,
  counts,
  gated,
  gatedProd,
  oneStage,
  stageOf,
} from "./known-strategies.ts";
export { mutations } from "./mutations.ts";
export { pass, rounds, settle } from "./passes.ts";
export type { Mutation } from "./plant.ts";
export {
  aSimulatedCluster,
  becomeReady,
  breakDown,
  command,
  currentOf,
  decideGate,
  fresh,
  minutes,
  pause,
  report,
  type SimulatedCluster,
  type Simulation,
  simulate,
  simulatedClusters,
  statusOf,
  waitForDependency,
} from "./simulation.ts";
