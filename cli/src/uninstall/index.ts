export { describeFleetObjects, describeRest } from "./describe.ts";
export { emptyFleet } from "./empty-fleet.ts";
export { readFleetObjects } from "./fleet-objects.ts";
export { assertMayEmpty } from "./preconditions.ts";
