export { FleetDetails } from "./details.ts";
export { FleetView } from "./fleet-view.ts";
export { shownPart } from "./recent-events.ts";
export type { RollbackCounts } from "./staged-rollouts.ts";
