export { type Election, lead } from "./lead.ts";
export { readinessOf } from "./readiness.ts";
