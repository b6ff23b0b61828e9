export { createHelmRepositoryController } from "./controller.ts";
export { chartLocation, helmRepositoryAccess, isRegistry } from "./location.ts";
