export {
  type ChartProblem,
  chartArtifact,
  dependenciesOfArtifact,
  pinMetadata,
  pinOfArtifact,
  problemMetadata,
  problemOfArtifact,
} from "./artifact.ts";
export { chartFileOfArchive, invalidChart, maxArchiveBytes, parseChartFile } from "./chart-file.ts";
export type { ChartFromSource } from "./chart-source.ts";
export { createHelmChartController } from "./controller.ts";
export { keptDependencies, repositoriesOf } from "./dependencies.ts";
export { chartsOfBuckets } from "./from-bucket.ts";
export { chartsOfHelmRepositories } from "./from-helm-repository.ts";
export { keepMadeChart, presentValuesFiles, treeChartVersion } from "./tree-chart.ts";
