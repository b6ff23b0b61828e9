export {
  type Aggregates,
  createAggregates,
  isCountingChange,
  isPresenceChange,
} from "./aggregates.ts";
export { type Archives, differingArchives } from "./archives.ts";
export {
  type Aggregate,
  commonVersion,
  createDeploymentAggregates,
  worstOf,
} from "./bundle-aggregate.ts";
export {
  artifactFailed,
  chartNotFetched,
  isAboutDesired,
  stateOf,
  stateWhileOffline,
  valuesError,
} from "./deployment-state.ts";
export type { GroupAggregate } from "./group-aggregate.ts";
export { isOtherDrift, isOtherFailure, isOtherTest } from "./last-results.ts";
export { isOtherSuccess } from "./last-success.ts";
export { idOf } from "./object-states.ts";
export { modifiedText, objectText } from "./object-text.ts";
export { type OfflineClusters, offlineFields } from "./offline-clusters.ts";
export { bundleReady, summaryReady } from "./ready-condition.ts";
export { releaseConditionTypes } from "./release-conditions.ts";
export { rollUp } from "./roll-up.ts";
export { rollUpBundle, rollUpObjects, worstDeployments } from "./roll-up-bundle.ts";
export { countIn, countsText, summarize, unheardText, worstState } from "./summarize.ts";
