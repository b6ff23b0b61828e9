export type { ResolutionState } from "./attempt.ts";
export { type ChartAccess, createChartAccess, watchSecrets } from "./chart-access.ts";
export {
  attemptText,
  type ChartResolver,
  createChartResolver,
  isAllPinned,
  requeueAt,
} from "./chart-resolver.ts";
export { failureText, watchAttempt } from "./long-attempt.ts";
export { isFetchFailureChange } from "./pin-check.ts";
export { createPinSigner, type PinSigner } from "./pin-signature.ts";
export { slotAfter, slotOffset } from "./poll-slots.ts";
export { mayChange, pollingIntervalMs } from "./polling.ts";
export { handledOf, openRequests, type Requests } from "./requests.ts";
export { notesOn } from "./resolve-charts.ts";
