export { createDiscovery } from "./discovery.ts";
export type { IgnoredConditions } from "./ignored-conditions.ts";
export type { Readiness } from "./readiness.ts";
export { onlyMetadata } from "./slim-object.ts";
export { createReadinessTracker, type ReadinessTracker } from "./tracker.ts";
