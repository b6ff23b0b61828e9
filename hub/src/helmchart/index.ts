export { pinMetadata, pinOfArtifact } from "./artifact.ts";
export type { ChartFromSource, ChartRequest, ResolvedChart } from "./chart-source.ts";
export { type ChartSources, createHelmChartController } from "./controller.ts";
export { chartsOfBuckets } from "./from-bucket.ts";
export { chartsOfHelmRepositories } from "./from-helm-repository.ts";
