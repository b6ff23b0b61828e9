export { createDrain } from "./leader/drain.ts";
export { lead } from "./leader/lead.ts";
export { readinessOf } from "./leader/readiness.ts";
export type { FleetCounts } from "./simulation/fleet-counts.ts";
export { createSimulatedFleet } from "./simulation/simulated-fleet.ts";
