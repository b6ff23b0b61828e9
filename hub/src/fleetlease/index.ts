export { createFleetGuard, type FleetGuard } from "./guard.ts";
