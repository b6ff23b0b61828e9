export { createFleetDetails, type FleetDetails } from "./details.ts";
export { createFleetView, type FleetView } from "./fleet-view.ts";
export { shownPart } from "./recent-events.ts";
