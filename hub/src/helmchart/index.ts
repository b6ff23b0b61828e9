export {
  type ChartProblem,
  chartArtifact,
  dependenciesOfArtifact,
  pinMetadata,
  pinOfArtifact,
  problemMetadata,
  problemOfArtifact,
} from "./artifact.ts";
export {
  chartFileOfArchive,
  invalidChart,
  maxArchiveBytes,
  maxChartFileBytes,
  readChartFile,
} from "./chart-file.ts";
export type { ChartFromSource, ChartRequest, ResolvedChart } from "./chart-source.ts";
export { createHelmChartController } from "./controller.ts";
export { keptDependencies } from "./dependencies.ts";
export { chartsOfBuckets } from "./from-bucket.ts";
export { chartsOfHelmRepositories } from "./from-helm-repository.ts";
export {
  lacksProvenance,
  type Provenance,
  provenanceOfArtifact,
  provenanceText,
  withProvenance,
} from "./provenance.ts";
export { keepMadeChart, presentValuesFiles, treeChartVersion } from "./tree-chart.ts";
