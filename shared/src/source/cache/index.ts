export { type ChartCache, createChartCache } from "./chart-cache.ts";
export type { ChartFile } from "./chart-file.ts";
