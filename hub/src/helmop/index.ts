export { createHelmOpController } from "./controller.ts";
export { createHelmOpPublisher } from "./publisher.ts";
export { validate as validateRelease } from "./validate.ts";
