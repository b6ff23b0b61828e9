export { createHelmReleaseController, releasesOfBundle } from "./controller.ts";
export { createHelmReleasePublisher } from "./publisher.ts";
export type { ValidationOptions } from "./validate.ts";
