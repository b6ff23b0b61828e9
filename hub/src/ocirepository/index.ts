export { createOciRepositoryController } from "./controller.ts";
