export { pinOfArtifact } from "./artifact.ts";
export type { ChartFromSource, ChartRequest, ResolvedChart } from "./chart-source.ts";
export { createHelmChartController } from "./controller.ts";
