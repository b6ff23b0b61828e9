export { type ApplyChartCrds, createApplyChartCrds, type WithDefinitions } from "./chart-crds.ts";
export { type CrdPolicy, type CrdRetention, createCrdRetention } from "./crd-retention.ts";
