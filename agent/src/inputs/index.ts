export {
  createDependencyTracker,
  type DependencyTracker,
  type ReportedState,
} from "./dependencies/dependency-tracker.ts";
export type { UnmetDependencies } from "./dependencies/unmet-dependencies.ts";
export { downstreamLabel } from "./downstream/downstream-object.ts";
export {
  createDownstreamReferrers,
  createDownstreamResources,
  type DownstreamResources,
} from "./downstream/downstream-resources.ts";
export { createBuildCharts, createWithDefinitions } from "./reader/build-charts.ts";
export { createReadCalls } from "./reader/read-calls.ts";
export { createReadRecords } from "./reader/read-records.ts";
export { createReadTemplates } from "./reader/read-templates.ts";
export { createReadYaml } from "./reader/read-yaml.ts";
export { createReaders, type Readers } from "./reader/readers.ts";
export {
  createInputCollector,
  type InputCollector,
  type ReleaseInputs,
} from "./values/release-inputs.ts";
export {
  createRenderValues,
  hasTemplates,
  type RenderValues,
  type ValuesTemplates,
} from "./values/render-values.ts";
export { type ValueOrigin, valuesWithOrigin } from "./values/value-origins.ts";
