export { ChartCache, type UsedChart } from "./chart-cache.ts";
export type { ChartFile } from "./chart-file.ts";
