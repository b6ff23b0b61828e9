export {
  type ChartProblem,
  pinMetadata,
  pinOfArtifact,
  problemMetadata,
  problemOfArtifact,
} from "./artifact.ts";
export type { ChartFromSource } from "./chart-source.ts";
export { createHelmChartController } from "./controller.ts";
export { chartsOfBuckets } from "./from-bucket.ts";
export { chartsOfHelmRepositories } from "./from-helm-repository.ts";
