export { createHelmOpController } from "./controller.ts";
export { helmOpFrontEnd } from "./front-end.ts";
export { createHelmOpPublisher } from "./publisher.ts";
