export { authoritiesDigest, hubServerName } from "./authorities.ts";
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
  DeploymentKey,
  DeploymentState,
  DriftedObject,
  DriftInfo,
  DriftRecord,
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
  ReferencedObject,
  ReleaseCondition,
  ReleaseInfo,
  ReleaseRequest,
  RequestBody,
  RequestResult,
  ResourceCounts,
  ResourceState,
  RevisionInfo,
  SourceDigest,
  UnreadyResource,
  ValuesOptions,
} from "./messages.ts";
export { releaseConditionTypes } from "./messages.ts";
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
