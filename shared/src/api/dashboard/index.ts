export { answerLineSchema } from "./answer-lines.ts";
export { type Change, heartbeatMs, streamEvents } from "./changes.ts";
export { csrfHeader, loginCsrfToken } from "./csrf.ts";
export type {
  Action,
  ActionName,
  ActionRequest,
  AppDetail,
  ClusterDetail,
  ClusterRelease,
  ReleaseDetail,
  SourceDetail,
  Target,
  VersionRecord,
} from "./details.ts";
export { type BodyOf, type EndpointName, endpoints, type ResponseOf } from "./endpoints.ts";
export {
  type App,
  type AppRef,
  type ClusterRef,
  type Fleet,
  type FleetCluster,
  type FleetEvent,
  type FleetRow,
  type FleetSource,
  type SourceKind,
  sourceKinds,
} from "./fleet.ts";
export type { HubErrorCode } from "./hub-codes.ts";
export { openApiDocument } from "./open-api.ts";
export {
  type AppRollout,
  type GateActionName,
  gateActionNames,
  type Rollout,
  type RolloutAction,
  type RolloutActionName,
  type RolloutActionRequest,
  type RolloutCommandName,
  type RolloutGate,
  type RolloutRecord,
  type RolloutStageView,
  type ShownWindow,
  type StagedRelease,
} from "./rollouts.ts";
export type { LoginMethods, Problem, Session } from "./session.ts";
export {
  type AppState,
  appStates,
  type ClusterState,
  clusterStates,
  firstVersionCode,
  noRelease,
  type ReleaseState,
  releaseStates,
  type SourceState,
  stateCharacters,
} from "./states/index.ts";
