/**
 * Between the generated wire types and ours. Every message is checked here once: what is missing, too long or out of
 * range is refused with a WireError, so that past this file the types can be trusted.
 */
import type {
  AgentMessage__Output,
  AgentMessage as WireAgentMessage,
} from "./generated/flotilla/v1/AgentMessage.ts";
import type { Certificate__Output } from "./generated/flotilla/v1/Certificate.ts";
import type {
  DeploymentState__Output,
  _flotilla_v1_DeploymentState_Phase__Output as WirePhase,
  DeploymentState as WireState,
} from "./generated/flotilla/v1/DeploymentState.ts";
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
import type { ResourceState__Output } from "./generated/flotilla/v1/ResourceState.ts";
import {
  type AgentMessage,
  type DeploymentKey,
  type DeploymentPhase,
  type DeploymentState,
  type EnrollRequest,
  type EnrollResponse,
  type HubMessage,
  type IssuedCertificate,
  type ResourceState,
  type ResourceStateName,
  type ResourceTally,
  resourceStateNames,
  type SupplyRef,
} from "./messages.ts";

/** A message that the contract does not allow. The stream that carried it ends. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** Bounds of what one message may carry; beyond them it is refused. */
export const wireLimits = {
  /** Names of Kubernetes objects end at 253 characters; UIDs, digests and addresses are shorter than this. */
  nameChars: 512,
  messageChars: 16_384,
  holdings: 10_000,
  supplies: 10_000,
  notReady: 10,
  resources: 64,
  labels: 200,
} as const;

const phaseToWire = {
  pending: "PHASE_PENDING",
  deployed: "PHASE_DEPLOYED",
  failed: "PHASE_FAILED",
  withdrawing: "PHASE_WITHDRAWING",
} as const satisfies Record<DeploymentPhase, WirePhase>;

const phaseFromWire: Partial<Record<WirePhase, DeploymentPhase>> = {
  PHASE_PENDING: "pending",
  PHASE_DEPLOYED: "deployed",
  PHASE_FAILED: "failed",
  PHASE_WITHDRAWING: "withdrawing",
};

const noTally: ResourceTally = { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 };

export function agentMessageToWire(message: AgentMessage): WireAgentMessage {
  switch (message.kind) {
    case "hello": {
      const { kind: _, ...hello } = message;
      return {
        hello: { ...hello, holdings: [...hello.holdings], supplies: [...hello.supplies] },
      };
    }
    case "received":
      return { received: { ...message.deployment, deploymentId: message.deploymentId ?? "" } };
    case "state":
      return { state: stateToWire(message.sequence, message.state) };
    case "withdrawn":
      return { withdrawn: { ...message.deployment } };
  }
}

export function agentMessageFromWire(wire: AgentMessage__Output): AgentMessage {
  if (wire.hello) {
    const { hello } = wire;
    atMost(hello.holdings.length, wireLimits.holdings, "hello.holdings");
    atMost(hello.supplies.length, wireLimits.supplies, "hello.supplies");
    const factsDigest = text(hello.factsDigest, "hello.facts_digest");
    return {
      kind: "hello",
      protocolVersion: hello.protocolVersion,
      hubId: text(hello.hubId, "hello.hub_id"),
      agentVersion: text(hello.agentVersion, "hello.agent_version"),
      agentNamespace: text(hello.agentNamespace, "hello.agent_namespace"),
      holdings: hello.holdings.map((held) => ({
        ...key(held, "holding"),
        deploymentId: text(held.deploymentId, "holding.deployment_id"),
        paused: held.paused,
        withdrawing: held.withdrawing,
      })),
      ...(factsDigest !== "" && { factsDigest }),
      supplies: hello.supplies.map((held) => {
        const digest = text(held.digest, "held_supply.digest");
        return { ...supplyRef(held, "held_supply"), ...(digest !== "" && { digest }) };
      }),
    };
  }
  if (wire.received) {
    const deploymentId = text(wire.received.deploymentId, "received.deployment_id");
    return {
      kind: "received",
      deployment: key(wire.received, "received"),
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
  throw new WireError("the agent sent a message of a kind that this hub does not know");
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
        },
      };
    case "withdrawal":
      return { withdrawal: { ...message.deployment } };
    case "synced":
      return { synced: { orphans: [...message.orphans] } };
    case "stateReceived":
      return { stateReceived: { name: message.name, sequence: message.sequence } };
    case "facts":
      return { facts: { digest: message.digest, content: message.content } };
    case "supply": {
      const { packed, ...ref } = message.supply;
      return { supply: { ...ref, ...packed } };
    }
    case "supplyWithdrawal":
      return { supplyWithdrawal: { ...message.supply } };
  }
}

export function hubMessageFromWire(wire: HubMessage__Output): HubMessage {
  if (wire.welcome) {
    return {
      kind: "welcome",
      protocolVersion: wire.welcome.protocolVersion,
      hubId: text(wire.welcome.hubId, "welcome.hub_id"),
      epoch: whole(wire.welcome.epoch, "welcome.epoch"),
      hubVersion: text(wire.welcome.hubVersion, "welcome.hub_version"),
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
    };
  }
  if (wire.withdrawal)
    return { kind: "withdrawal", deployment: key(wire.withdrawal, "withdrawal") };
  if (wire.synced)
    return {
      kind: "synced",
      orphans: wire.synced.orphans.map((name) => text(name, "synced.orphans")),
    };
  if (wire.stateReceived) {
    return {
      kind: "stateReceived",
      name: text(wire.stateReceived.name, "state_received.name"),
      sequence: whole(wire.stateReceived.sequence, "state_received.sequence"),
    };
  }
  if (wire.facts) {
    const { facts } = wire;
    return { kind: "facts", digest: present(facts.digest, "facts.digest"), content: facts.content };
  }
  if (wire.supply) {
    const { supply } = wire;
    const digest = text(supply.digest, "supply.digest");
    return {
      kind: "supply",
      supply: {
        ...supplyRef(supply, "supply"),
        ...(digest !== "" && { packed: { digest, content: supply.content } }),
      },
    };
  }
  if (wire.supplyWithdrawal) {
    return {
      kind: "supplyWithdrawal",
      supply: supplyRef(wire.supplyWithdrawal, "supply_withdrawal"),
    };
  }
  throw new WireError("the hub sent a message of a kind that this agent does not know");
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
    throw new WireError("the hub's answer has no certificate");
  }
  return { chainPem: wire.chainPem, authoritiesPem: wire.authoritiesPem };
}

function stateToWire(sequence: number, state: DeploymentState): WireState {
  return {
    name: state.name,
    uid: state.uid,
    sequence,
    deploymentId: state.deploymentId,
    phase: phaseToWire[state.phase],
    message: cut(state.message),
    retryAt: state.retryAt ?? "",
    ...(state.release !== undefined && { release: state.release }),
    ready: state.ready,
    notReady: state.notReady.slice(0, wireLimits.notReady).map((resource) => ({
      ...resource,
      message: cut(resource.message),
      missing: resource.state === "missing",
    })),
    resources: state.resources.slice(0, wireLimits.resources),
    incomplete: state.incomplete || state.resources.length > wireLimits.resources,
    counts: state.counts,
    chartDigest: state.chartDigest ?? "",
    code: state.code ?? "",
  };
}

function stateFromWire(wire: DeploymentState__Output): DeploymentState {
  const phase = phaseFromWire[wire.phase];
  if (phase === undefined)
    throw new WireError(
      `state.phase is ${wire.phase}, which is none of ${Object.values(phaseToWire).join(", ")}`,
    );
  atMost(wire.notReady.length, wireLimits.notReady, "state.not_ready");
  atMost(wire.resources.length, wireLimits.resources, "state.resources");
  const retryAt = text(wire.retryAt, "state.retry_at");
  const chartDigest = text(wire.chartDigest, "state.chart_digest");
  const code = text(wire.code, "state.code");
  return {
    ...key(wire, "state"),
    deploymentId: text(wire.deploymentId, "state.deployment_id"),
    phase,
    message: long(wire.message, "state.message"),
    ...(retryAt !== "" && { retryAt }),
    ...(wire.release !== null && {
      release: {
        namespace: text(wire.release.namespace, "release.namespace"),
        name: text(wire.release.name, "release.name"),
        revision: wire.release.revision,
        chartVersion: text(wire.release.chartVersion, "release.chart_version"),
        appVersion: text(wire.release.appVersion, "release.app_version"),
      },
    }),
    ready: wire.ready,
    notReady: wire.notReady.map((resource) => ({
      ...resourceFromWire(resource, resource.missing ? "missing" : "in-progress"),
      message: long(resource.message, "resource.message"),
    })),
    resources: wire.resources.map((resource) => resourceFromWire(resource, "unknown")),
    incomplete: wire.incomplete,
    counts: wire.counts ?? noTally,
    ...(chartDigest !== "" && { chartDigest }),
    ...(code !== "" && { code }),
  };
}

/** `otherwise`: the state of what says none, or one that this build does not know. */
function resourceFromWire(
  wire: ResourceState__Output,
  otherwise: ResourceStateName,
): ResourceState {
  const namespace = text(wire.namespace, "resource.namespace");
  return {
    apiVersion: text(wire.apiVersion, "resource.api_version"),
    kind: text(wire.kind, "resource.kind"),
    ...(namespace !== "" && { namespace }),
    name: text(wire.name, "resource.name"),
    state: resourceStateNames.find((state) => state === wire.state) ?? otherwise,
  };
}

function key(wire: { readonly name: string; readonly uid: string }, where: string): DeploymentKey {
  return { name: present(wire.name, `${where}.name`), uid: present(wire.uid, `${where}.uid`) };
}

function supplyRef(
  wire: { readonly kind: string; readonly name: string },
  where: string,
): SupplyRef {
  const { kind } = wire;
  if (kind !== "Secret" && kind !== "ConfigMap")
    throw new WireError(
      `${where}.kind is ${text(kind, where)}, which is no Secret and no ConfigMap`,
    );
  return { kind, name: present(wire.name, `${where}.name`) };
}

function present(value: string, field: string): string {
  if (value === "") throw new WireError(`${field} is empty`);
  return text(value, field);
}

function text(value: string, field: string): string {
  atMost(value.length, wireLimits.nameChars, field);
  return value;
}

function long(value: string, field: string): string {
  atMost(value.length, wireLimits.messageChars, field);
  return value;
}

/** A message of ours, as long as the other side takes it. */
function cut(message: string): string {
  return message.slice(0, wireLimits.messageChars);
}

function atMost(size: number, limit: number, field: string): void {
  if (size > limit)
    throw new WireError(`${field} is ${size} long, which is more than the ${limit} allowed`);
}

function whole(value: string, field: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new WireError(`${field} is ${value}, which is out of range`);
  return number;
}
