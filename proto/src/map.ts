/**
 * Between the generated wire types and ours. Every message is checked here once: what is missing, too long or out of
 * range is refused with a WireError, so that past this file the types can be trusted.
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
import { stateFromWire, stateToWire } from "./map-state.ts";
import type {
  AgentMessage,
  EnrollRequest,
  EnrollResponse,
  HubMessage,
  IssuedCertificate,
  ObjectRef,
} from "./messages.ts";
import { atMost, key, present, shown, text, WireError, whole, wireLimits } from "./validation.ts";

export function agentMessageToWire(message: AgentMessage): WireAgentMessage {
  switch (message.kind) {
    case "hello": {
      const { kind: _, versions, ...hello } = message;
      return {
        hello: {
          ...hello,
          protocolVersion: versions.oldest,
          newestProtocolVersion: versions.newest,
          holdings: [...hello.inventory],
          supplies: [...hello.referencedObjects],
        },
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
    atMost(hello.holdings.length, wireLimits.inventory, "hello.holdings");
    atMost(hello.supplies.length, wireLimits.referencedObjects, "hello.supplies");
    const factsDigest = text(hello.factsDigest, "hello.facts_digest");
    const authoritiesDigest = text(hello.authoritiesDigest, "hello.authorities_digest");
    const { protocolVersion: oldest, newestProtocolVersion: newest } = hello;
    return {
      kind: "hello",
      versions: { oldest, newest: Math.max(oldest, newest) },
      hubId: text(hello.hubId, "hello.hub_id"),
      agentVersion: shown(hello.agentVersion),
      agentNamespace: shown(hello.agentNamespace),
      inventory: hello.holdings.map((held) => ({
        ...key(held, "holding"),
        deploymentId: text(held.deploymentId, "holding.deployment_id"),
        paused: held.paused,
        withdrawing: held.withdrawing,
      })),
      ...(factsDigest !== "" && { clusterInfoDigest }),
      referencedObjects: hello.supplies.map((held) => {
        const digest = text(held.digest, "held_supply.digest");
        return { ...supplyRef(held, "held_supply"), ...(digest !== "" && { digest }) };
      }),
      ...(authoritiesDigest !== "" && { authoritiesDigest }),
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
      const { packed, ...ref } = message.object;
      return { supply: { ...ref, ...packed } };
    }
    case "supplyWithdrawal":
      return { supplyWithdrawal: { ...message.object } };
    case "authorities":
      return { authorities: { pem: message.pem } };
  }
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
      object: {
        ...supplyRef(supply, "supply"),
        ...(digest !== "" && { packed: { digest, content: supply.content } }),
      },
    };
  }
  if (wire.supplyWithdrawal) {
    return {
      kind: "supplyWithdrawal",
      object: supplyRef(wire.supplyWithdrawal, "supply_withdrawal"),
    };
  }
  if (wire.authorities) {
    const { pem } = wire.authorities;
    atMost(pem.length, wireLimits.authoritiesChars, "authorities.pem");
    if (!areAuthorities(pem))
      throw new WireError("authorities.pem has no certificates, or not only");
    return { kind: "authorities", pem };
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

function supplyRef(
  wire: { readonly kind: string; readonly name: string },
  where: string,
): ObjectRef {
  const { kind } = wire;
  if (kind !== "Secret" && kind !== "ConfigMap")
    throw new WireError(`${where}.kind is ${shown(kind)}, which is no Secret and no ConfigMap`);
  return { kind, name: present(wire.name, `${where}.name`) };
}
