export { runLocalCluster } from "./controller.ts";
