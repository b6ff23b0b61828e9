export {
  type ChartCache,
  createChartCache,
  type UsedChart,
} from "./chart-cache.ts";
export type { ChartFile } from "./chart-file.ts";
