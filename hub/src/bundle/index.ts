export { createBundleController } from "./controller.ts";
export type { Pack } from "./place.ts";
export { createBundlePublisher } from "./publisher.ts";
