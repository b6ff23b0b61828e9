export { createFleetGuard } from "./guard.ts";
