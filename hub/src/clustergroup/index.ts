export { createClusterGroupPublisher } from "./controller.ts";
