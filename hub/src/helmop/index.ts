export { createHelmOpController } from "./controller.ts";
export { planBundle } from "./plan.ts";
export { createHelmOpPublisher } from "./publisher.ts";
export { validate } from "./validate.ts";
