export { createObjectRefreshController } from "./refresh-objects.ts";
export { runHelmReleases } from "./run.ts";
export type { ValidationOptions } from "./validate.ts";
