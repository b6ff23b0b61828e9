export { builtInKind } from "./built-in-kinds.ts";
export { createDiscovery } from "./discovery.ts";
export type { IgnoredConditions } from "./ignored-conditions.ts";
export { statusOf } from "./object-status.ts";
export { toWorkload } from "./pods/index.ts";
export type { Readiness } from "./readiness.ts";
export type { SharedObject } from "./shared-objects.ts";
export { onlyMetadata } from "./slim-object.ts";
export { createReadinessTracker, type ReadinessTracker } from "./tracker.ts";
