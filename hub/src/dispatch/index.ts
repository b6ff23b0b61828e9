export type { AnswerSink, NewRequest, OpenedRequest } from "./agent-requests.ts";
export { createDispatcher, type Dispatcher, type DispatcherDeps } from "./dispatcher.ts";
export { createDispatchMetrics } from "./metrics.ts";
export type { ReportPosition, ReportSink } from "./report-intake.ts";
export { createReportWriter } from "./report-writer.ts";
