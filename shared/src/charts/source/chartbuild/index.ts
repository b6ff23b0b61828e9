export {
  type ChartMetadata,
  parseChartLock,
  parseChartMetadata,
  withVersion,
} from "./chart-metadata.ts";
export { pathInSource } from "./chart-path.ts";
export {
  dependencyAccess,
  dependencyLocation,
  dependencyRepositories,
  isSameRepository,
  type MissingDependency,
  missingDependencies,
  satisfiesVersion,
} from "./dependencies.ts";
export { type HelmIgnore, parseHelmIgnore } from "./helm-ignore.ts";
export { mergeValuesFiles, type ValuesFile } from "./values-files.ts";
