/** Validates an agent's Hello: this hub, and a version of the protocol that both support. Pure. */
import {
  type AgentMessage,
  describeVersions,
  negotiateVersion,
  supportedVersions,
} from "@flotilla/proto";
import type { ErrorKind } from "@flotilla/shared/errors";
import { status } from "@grpc/grpc-js";
import { RpcError, rpcErrors } from "../rpc/index.ts";

export type Hello = Extract<AgentMessage, { kind: "hello" }>;

export type HelloValidation =
  /** `version`: of the protocol on this stream. */
  | { readonly kind: "accepted"; readonly version: number }
  | { readonly kind: "rejected"; readonly error: RpcError };

export function validateHello({ versions, hubId }: Hello, ownHubId: string): HelloValidation {
  const negotiation = negotiateVersion(supportedVersions, versions);
  if (negotiation.kind === "incompatible") {
    return rejected(
      rpcErrors.PROTOCOL_VIOLATION,
      `the agent supports ${describeVersions(versions)} of the protocol, this hub supports ${describeVersions(supportedVersions)}; upgrade the ${negotiation.outdated === "own" ? "hub" : "agent"}`,
    );
  }
  if (hubId !== ownHubId) {
    return rejected(
      rpcErrors.AGENT_REJECTED,
      `the agent is enrolled with hub ${hubId}, this is hub ${ownHubId}; nothing was changed`,
    );
  }
  return { kind: "accepted", version: negotiation.version };
}

function rejected(kind: ErrorKind, message: string): HelloValidation {
  return { kind: "rejected", error: new RpcError(status.FAILED_PRECONDITION, kind, message) };
}
