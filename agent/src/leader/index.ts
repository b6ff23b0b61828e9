export { createDrain } from "./drain.ts";
export { lead } from "./lead.ts";
export { readinessOf } from "./readiness.ts";
