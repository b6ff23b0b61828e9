export {
  applyStep,
  clusterNames,
  type FleetStep,
  fleetStep,
  type RepositoryState,
  repo,
  resolverOf,
} from "./fleet-steps.ts";
export {
  applyFluxStep,
  bucketChart,
  bucketClientOf,
  type FluxStep,
  fluxStep,
  isFluxStep,
  readIndexOf,
} from "./flux-steps.ts";
export {
  all,
  everywhere,
  helm,
  home,
  type MappedFleet,
  mapped,
  reportReady,
  startMappedFleet,
  tenants,
} from "./mapped-fleet.ts";
export { runHistory, stable, untilSettled } from "./run-history.ts";
export {
  bundleStatusOf,
  createStagedFleet,
  decideGate,
  type StagedClusters,
  type StagedFleet,
  type StagedFleetOptions,
} from "./staged-fleet.ts";
