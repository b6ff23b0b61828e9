export { appRefOf } from "./app-of.ts";
export { createFleetDetails, type FleetDetails } from "./details.ts";
export { createFleetView, type FleetView, type FleetViewDeps } from "./fleet-view.ts";
export { eventOf, shownPart } from "./recent-events.ts";
