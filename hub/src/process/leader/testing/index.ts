export {
  app,
  begin,
  canary,
  gate,
  inField,
  rest,
  saidBy,
  stages,
  testRows,
  waitsFor,
  windows,
  wrongSelector,
} from "./bad-rollouts.ts";
export {
  applyStep,
  clusterNames,
  type FleetStep,
  fleetStep,
  type RepositoryState,
  repo,
  resolverOf,
} from "./fleet-steps.ts";
export { sourcesOf } from "./flux-sources.ts";
export {
  applyFluxStep,
  bucketChart,
  type FluxStep,
  fluxStep,
  gitChart,
  isFluxStep,
  registryChart,
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
