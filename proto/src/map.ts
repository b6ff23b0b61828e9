/**
 * Maps messages between the generated wire types and our own. Every message is validated here once and rejected with a
 * WireError, so that other code can trust the types.
 */
import { areAuthorities } from "./authorities.ts";
import type {
  AgentMessage__Output,
  AgentMessage as WireAgentMessage,
} from "./generated/flotilla/v1/AgentMessage.ts";
import type { Certificate__Output } from "./generated/flotilla/v1/Certificate.ts";
import type {
  EnrollRequest__Output,
  EnrollRequest as WireEnrollRequest,
} from "./generated/flotilla/v1/EnrollRequest.ts";
import type {
  EnrollResponse__Output,
  EnrollResponse as WireEnrollResponse,
} from "./generated/flotilla/v1/EnrollResponse.ts";
import type {
  HubMessage__Output,
  HubMessage as WireHubMessage,
} from "./generated/flotilla/v1/HubMessage.ts";
import type { PlanVerification__Output } from "./generated/flotilla/v1/PlanVerification.ts";
import type { ReleaseRequest__Output } from "./generated/flotilla/v1/ReleaseRequest.ts";
import { objectRefFromWire, referencedFromWire, referencedToWire } from "./map-referenced.ts";
import {
  agentRequestFromWire,
  agentRequestToWire,
  chunkFromWire,
  chunkToWire,
} from "./map-request.ts";
import { sourceFromWire, stateFromWire, stateToWire } from "./map-state.ts";
import type {
  AgentMessage,
  EnrollRequest,
  EnrollResponse,
  HubMessage,
  IssuedCertificate,
  PlanVerification,
  ReleaseRequest,
} from "./messages.ts";
import { atMost, key, present, shown, text, WireError, whole, wireLimits } from "./validation.ts";

export function agentMessageToWire(message: AgentMessage): WireAgentMessage {
  switch (message.kind) {
    case "hello": {
      const { kind: _, versions, ...hello } = message;
      return {
        hello: {
          ...hello,
          oldestProtocolVersion: versions.oldest,
          newestProtocolVersion: versions.newest,
          deployments: [...hello.deployments],
          referencedObjects: [...hello.referencedObjects],
          capabilities: [...(hello.capabilities ?? [])],
        },
      };
    }
    case "deploymentAck":
      return { deploymentAck: { ...message.deployment, deploymentId: message.deploymentId ?? "" } };
    case "state":
      return { state: stateToWire(message.sequence, message.state) };
    case "withdrawn":
      return { withdrawn: { ...message.deployment } };
    case "answerChunk":
      return { answerChunk: chunkToWire(message) };
  }
}

export function agentMessageFromWire(wire: AgentMessage__Output): AgentMessage {
  if (wire.hello) {
    const { hello } = wire;
    atMost(hello.deployments.length, wireLimits.deployments, "hello.deployments");
    atMost(
      hello.referencedObjects.length,
      wireLimits.referencedObjects,
      "hello.referenced_objects",
    );
    atMost(hello.capabilities.length, wireLimits.capabilities, "hello.capabilities");
    const capabilities = hello.capabilities.map((name) => present(name, "hello.capabilities"));
    const clusterInfoDigest = text(hello.clusterInfoDigest, "hello.cluster_info_digest");
    const authoritiesDigest = text(hello.authoritiesDigest, "hello.authorities_digest");
    const kubernetesVersion = shown(hello.kubernetesVersion);
    const { oldestProtocolVersion: oldest, newestProtocolVersion: newest } = hello;
    return {
      kind: "hello",
      versions: { oldest, newest: Math.max(oldest, newest) },
      hubId: text(hello.hubId, "hello.hub_id"),
      agentVersion: shown(hello.agentVersion),
      agentNamespace: shown(hello.agentNamespace),
      deployments: hello.deployments.map((observed) => {
        const requestToken = text(observed.requestToken, "deployments.request_token");
        const verificationAt = text(observed.verificationAt, "deployments.verification_at");
        return {
          ...key(observed, "deployments"),
          deploymentId: text(observed.deploymentId, "deployments.deployment_id"),
          paused: observed.paused,
          withdrawing: observed.withdrawing,
          ...(requestToken !== "" && { requestToken }),
          ...(verificationAt !== "" && { verificationAt }),
        };
      }),
      ...(clusterInfoDigest !== "" && { clusterInfoDigest }),
      referencedObjects: hello.referencedObjects.map((observed) => {
        const digest = text(observed.digest, "referenced_objects.digest");
        return {
          ...objectRefFromWire(observed, "referenced_objects"),
          ...(digest !== "" && { digest }),
        };
      }),
      ...(authoritiesDigest !== "" && { authoritiesDigest }),
      ...(capabilities.length > 0 && { capabilities }),
      ...(kubernetesVersion !== "" && { kubernetesVersion }),
    };
  }
  if (wire.deploymentAck) {
    const deploymentId = text(wire.deploymentAck.deploymentId, "deployment_ack.deployment_id");
    return {
      kind: "deploymentAck",
      deployment: key(wire.deploymentAck, "deployment_ack"),
      ...(deploymentId !== "" && { deploymentId }),
    };
  }
  if (wire.state) {
    return {
      kind: "state",
      sequence: whole(wire.state.sequence, "state.sequence"),
      state: stateFromWire(wire.state),
    };
  }
  if (wire.withdrawn) return { kind: "withdrawn", deployment: key(wire.withdrawn, "withdrawn") };
  if (wire.answerChunk) return { kind: "answerChunk", ...chunkFromWire(wire.answerChunk) };
  throw new WireError("the agent sent a message of an unknown kind");
}

export function hubMessageToWire(message: HubMessage): WireHubMessage {
  switch (message.kind) {
    case "welcome": {
      const { kind: _, ...welcome } = message;
      return { welcome };
    }
    case "deployment":
      return {
        deployment: {
          ...message.deployment,
          deploymentId: message.deploymentId,
          paused: message.paused,
          ...(message.content !== undefined && { content: message.content }),
          ...(message.request !== undefined && { request: requestToWire(message.request) }),
          ...(message.sources !== undefined && { sources: [...message.sources] }),
          ...(message.verification !== undefined && {
            verification: { ...message.verification, key: Buffer.from(message.verification.key) },
          }),
        },
      };
    case "withdrawal":
      return {
        withdrawal: {
          ...message.deployment,
          ...message.lost,
          ...(message.keepsRelease && { keepRelease: true }),
        },
      };
    case "synced":
      return { synced: { orphans: [...message.orphans] } };
    case "stateAck":
      return { stateAck: { name: message.name, sequence: message.sequence } };
    case "clusterInfo":
      return { clusterInfo: { digest: message.digest, content: message.content } };
    case "referencedObject":
      return { referencedObject: referencedToWire(message.object) };
    case "referencedObjectWithdrawal":
      return { referencedObjectWithdrawal: { ...message.object } };
    case "authorities":
      return { authorities: { pem: message.pem } };
    case "request":
      return { agentRequest: agentRequestToWire(message) };
    case "requestCancellation":
      return { requestCancellation: { id: message.id } };
  }
}

function requestToWire({ token, force, reset, correctDrift }: ReleaseRequest) {
  return { token, force, reset, correctDrift: correctDrift === true };
}

function requestFromWire(wire: ReleaseRequest__Output): ReleaseRequest {
  const { token, force, reset, correctDrift } = wire;
  return {
    token: present(token, "request.token"),
    force,
    reset,
    ...(correctDrift && { correctDrift: true }),
  };
}

/** One that cannot be read ends the stream: nothing may be installed without it. */
function verificationFromWire({ diff, key, at }: PlanVerification__Output): PlanVerification {
  atMost(key.length, wireLimits.planKeyBytes, "verification.key");
  if (key.length === 0) throw new WireError("verification.key is empty");
  return { diff: present(diff, "verification.diff"), key, at: present(at, "verification.at") };
}

export function hubMessageFromWire(wire: HubMessage__Output): HubMessage {
  if (wire.welcome) {
    return {
      kind: "welcome",
      protocolVersion: wire.welcome.protocolVersion,
      hubId: text(wire.welcome.hubId, "welcome.hub_id"),
      epoch: whole(wire.welcome.epoch, "welcome.epoch"),
      hubVersion: shown(wire.welcome.hubVersion),
    };
  }
  if (wire.deployment) {
    const { deployment } = wire;
    return {
      kind: "deployment",
      deployment: key(deployment, "deployment"),
      deploymentId: text(deployment.deploymentId, "deployment.deployment_id"),
      paused: deployment.paused,
      ...(deployment.content.length > 0 && { content: deployment.content }),
      ...(deployment.request !== null && { request: requestFromWire(deployment.request) }),
      ...(deployment.sources.length > 0 && {
        sources: deployment.sources.slice(0, wireLimits.sources).map(sourceFromWire),
      }),
      ...(deployment.verification !== null && {
        verification: verificationFromWire(deployment.verification),
      }),
    };
  }
  if (wire.withdrawal) {
    const { content } = wire.withdrawal;
    const deploymentId = text(wire.withdrawal.deploymentId, "withdrawal.deployment_id");
    return {
      kind: "withdrawal",
      deployment: key(wire.withdrawal, "withdrawal"),
      ...(deploymentId !== "" && content.length > 0 && { lost: { deploymentId, content } }),
      ...(wire.withdrawal.keepRelease && { keepsRelease: true as const }),
    };
  }
  if (wire.synced)
    return {
      kind: "synced",
      orphans: wire.synced.orphans.map((name) => text(name, "synced.orphans")),
    };
  if (wire.stateAck) {
    return {
      kind: "stateAck",
      name: text(wire.stateAck.name, "state_ack.name"),
      sequence: whole(wire.stateAck.sequence, "state_ack.sequence"),
    };
  }
  if (wire.clusterInfo) {
    const { digest, content } = wire.clusterInfo;
    return { kind: "clusterInfo", digest: present(digest, "cluster_info.digest"), content };
  }
  if (wire.referencedObject) {
    const object = referencedFromWire(wire.referencedObject, "referenced_object");
    return { kind: "referencedObject", object };
  }
  if (wire.referencedObjectWithdrawal) {
    return {
      kind: "referencedObjectWithdrawal",
      object: objectRefFromWire(wire.referencedObjectWithdrawal, "referenced_object_withdrawal"),
    };
  }
  if (wire.authorities) {
    const { pem } = wire.authorities;
    atMost(pem.length, wireLimits.authoritiesChars, "authorities.pem");
    if (!areAuthorities(pem)) throw new WireError("authorities.pem is not a list of certificates");
    return { kind: "authorities", pem };
  }
  if (wire.agentRequest) return { kind: "request", ...agentRequestFromWire(wire.agentRequest) };
  if (wire.requestCancellation)
    return {
      kind: "requestCancellation",
      id: present(wire.requestCancellation.id, "request_cancellation.id"),
    };
  throw new WireError("the hub sent a message of an unknown kind");
}

export function enrollRequestToWire(request: EnrollRequest): WireEnrollRequest {
  return {
    ...request,
    labels: { ...request.labels },
    certificateRequest: Buffer.from(request.certificateRequest),
  };
}

export function enrollRequestFromWire(wire: EnrollRequest__Output): EnrollRequest {
  const labels = Object.entries(wire.labels);
  atMost(labels.length, wireLimits.labels, "labels");
  for (const [name, value] of labels) {
    text(name, "label name");
    text(value, "label value");
  }
  const clusterName = text(wire.clusterName, "cluster_name");
  return {
    token: text(wire.token, "token"),
    certificateRequest: wire.certificateRequest,
    clientId: present(wire.clientId, "client_id"),
    labels: wire.labels,
    ...(clusterName !== "" && { clusterName }),
  };
}

export function enrollResponseToWire(response: EnrollResponse): WireEnrollResponse {
  return response;
}

export function enrollResponseFromWire(wire: EnrollResponse__Output): EnrollResponse {
  return {
    certificate: certificateFromWire(wire.certificate),
    hubId: present(wire.hubId, "hub_id"),
    clusterNamespace: present(wire.clusterNamespace, "cluster_namespace"),
    clusterName: present(wire.clusterName, "cluster_name"),
    clusterUid: present(wire.clusterUid, "cluster_uid"),
  };
}

export function certificateFromWire(wire: Certificate__Output | null): IssuedCertificate {
  if (wire === null || wire.chainPem === "" || wire.authoritiesPem === "") {
    throw new WireError("the hub's response has no certificate");
  }
  return { chainPem: wire.chainPem, authoritiesPem: wire.authoritiesPem };
}
