export { createReconcileDurations, type ReconcileDurations } from "./reconcile-durations.ts";
export { createSeriesRegistry, type SeriesRegistry } from "./series.ts";
export { statusMetrics } from "./status-metrics.ts";
