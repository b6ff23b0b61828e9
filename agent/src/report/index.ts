export { composeStates, type ReleaseState } from "./compose-states.ts";
export { type DeploymentResult, toBundleState, toDeploymentState } from "./deployment-state.ts";
export { createFetchedSources, type FetchedSources } from "./fetched-sources.ts";
export { createOutbox, type Outbox, type StreamOutbox } from "./outbox.ts";
export { toReportedDrift } from "./reported-drift.ts";
