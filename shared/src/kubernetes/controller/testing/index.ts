export { metricValue, startController } from "./test-controller.ts";
