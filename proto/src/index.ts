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
  DeploymentKey,
  DeploymentState,
  DriftedObject,
  DriftInfo,
  DriftRecord,
  EnrollRequest,
  EnrollResponse,
  HubMessage,
  IssuedCertificate,
  LostContent,
  ObjectRef,
  ObjectRefKind,
  ObservedDeployment,
  ObservedObject,
  ReferencedObject,
  ReleaseCondition,
  ReleaseInfo,
  ReleaseRequest,
  ResourceCounts,
  ResourceState,
  RevisionInfo,
  UnreadyResource,
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
export { describeVersions, negotiateVersion, supportedVersions } from "./versions.ts";
