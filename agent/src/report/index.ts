export { type DeploymentResult, toBundleState, toDeploymentState } from "./deployment-state.ts";
export { createOutbox, type Outbox, type StreamOutbox } from "./outbox.ts";
export { toReportedDrift } from "./reported-drift.ts";
