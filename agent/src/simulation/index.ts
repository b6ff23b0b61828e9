export type { FleetCounts } from "./fleet-counts.ts";
export { createSimulatedFleet } from "./simulated-fleet.ts";
