export { createContentController } from "./controller.ts";
