export { publishChart, sampleChartDir } from "./publish-chart.ts";
export { runHelm } from "./run-helm.ts";
export {
  type BucketServer,
  type BucketServerSpec,
  startBucketServer,
} from "./start-bucket-server.ts";
export { startChartRepository } from "./start-chart-repository.ts";
export { type Registry, startRegistry } from "./start-registry.ts";
