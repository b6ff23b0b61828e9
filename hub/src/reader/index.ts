export { chartFactsOf } from "./chart-facts.ts";
export { createChartReader, type ReadChart } from "./chart-reader.ts";
