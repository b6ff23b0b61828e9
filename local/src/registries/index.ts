export { publishChart, sampleChartDir } from "./publish-chart.ts";
export { runHelm } from "./run-helm.ts";
export { startChartRepository } from "./start-chart-repository.ts";
export { type Registry, startRegistry } from "./start-registry.ts";
