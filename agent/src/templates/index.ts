export { callsSchema, chartCallsSchema, readChartCalls } from "./chart-calls.ts";
export { callsInValues, hasSuspects } from "./template-calls.ts";
export { type CheckTemplates, createTemplateGuard, type ReadCalls } from "./template-guard.ts";
