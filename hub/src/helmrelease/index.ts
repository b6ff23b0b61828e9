export { createObjectRefreshController } from "./refresh-objects.ts";
export { type HelmReleaseRunDeps, runHelmReleases } from "./run.ts";
export type { ValidationOptions } from "./validate.ts";
export { helmReleaseView } from "./view.ts";
