export { readLocalImages } from "./image.ts";
export { loopbackClass } from "./load-balancer.ts";
export { scheduling } from "./node.ts";
export { preparePods } from "./prepare.ts";
export { startRunner } from "./start-runner.ts";
