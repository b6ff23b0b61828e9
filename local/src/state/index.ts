export { endFleetProcesses, removeFleetFiles, runningProcesses } from "./clean-fleet.ts";
export { type FleetPaths, fleetPaths } from "./fleet-paths.ts";
export { type FleetState, observeFleet, writeFleetState } from "./fleet-state.ts";
