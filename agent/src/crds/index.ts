export { type ApplyChartCrds, createApplyChartCrds } from "./chart-crds.ts";
export { type CrdPolicy, type CrdRetention, createCrdRetention } from "./crd-retention.ts";
