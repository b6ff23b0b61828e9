export { authoritiesDigest, hubServerName } from "./authorities.ts";
export type {
  DeploymentKey,
  DeploymentState,
  DriftedObject,
  DriftInfo,
  DriftRecord,
  ReleaseCondition,
  ReleaseInfo,
  RequestResult,
  ResourceCounts,
  ResourceState,
  RevisionInfo,
  SourceDigest,
  UnreadyResource,
} from "./deployment-state.ts";
export { reportedConditionTypes } from "./deployment-state.ts";
export {
  agentMessageFromWire,
  agentMessageToWire,
  certificateFromWire,
  enrollRequestFromWire,
  enrollRequestToWire,
  enrollResponseFromWire,
  enrollResponseToWire,
  hubMessageFromWire,
  hubMessageToWire,
} from "./map.ts";
export type {
  AgentMessage,
  AgentRequest,
  AnswerChunk,
  AnswerEnd,
  EnrollRequest,
  EnrollResponse,
  HubMessage,
  IssuedCertificate,
  LogOptions,
  LostContent,
  ObjectRef,
  ObjectRefKind,
  ObservedDeployment,
  ObservedObject,
  PlanOptions,
  PlanVerification,
  ReferencedObject,
  ReleaseRequest,
  RequestBody,
  UserRequestBody,
  ValuesOptions,
} from "./messages.ts";
export { createSendQueue, type MakeMessage, type SendQueue, writeMessage } from "./send-queue.ts";
export {
  type FleetHandlers,
  loadFleetService,
  maxMessageBytes,
  type ReadAgentMessage,
  type ReadEnrollRequest,
  type ReadHubMessage,
  type ReadRenewRequest,
  type WireAgentMessage,
  type WireEnrollResponse,
  type WireHubMessage,
  type WireRenewResponse,
} from "./service.ts";
export {
  isNewKeyRequired,
  isReconnectRequest,
  newKeyRequiredTrailers,
  reconnectTrailers,
} from "./trailers.ts";
export { cleanText, isPrintable, shown, WireError, wireLimits } from "./validation.ts";
export {
  describeVersions,
  negotiateVersion,
  requestsVersion,
  supportedVersions,
} from "./versions.ts";
