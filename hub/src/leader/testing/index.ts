export {
  applyStep,
  clusterNames,
  type FleetStep,
  fleetStep,
  type RepositoryState,
  repo,
  resolverOf,
} from "./fleet-steps.ts";
