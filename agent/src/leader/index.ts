export { createDrain } from "./drain.ts";
export { type Election, lead } from "./lead.ts";
export { readinessOf } from "./readiness.ts";
