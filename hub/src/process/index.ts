export { createFleetGuard } from "./fleetlease/guard.ts";
export { lead } from "./leader/lead.ts";
