export { createHelmReleaseController, releasesOfBundle } from "./controller.ts";
export { createHelmReleasePublisher } from "./publisher.ts";
export { createObjectRefreshController } from "./refresh-objects.ts";
export type { ValidationOptions } from "./validate.ts";
export { createYieldToFluxController } from "./yield-to-flux.ts";
