/** Validates an agent's Hello: this hub, and versions of the agent and of the protocol that are supported. Pure. */

import {
  type AgentMessage,
  describeVersions,
  negotiateVersion,
  supportedVersions,
} from "@flotilla/proto";
import { versionSkew } from "@flotilla/shared/buildinfo";
import type { ErrorKind } from "@flotilla/shared/errors";
import { status } from "@grpc/grpc-js";
import { hubErrors } from "../../base/index.ts";
import { RpcError } from "../rpc/errors.ts";

export type Hello = Extract<AgentMessage, { kind: "hello" }>;

export type HelloValidation =
  /** `version`: of the protocol on this stream. */
  | { readonly kind: "accepted"; readonly version: number }
  | { readonly kind: "rejected"; readonly error: RpcError };

export interface OwnHub {
  readonly id: string;
  readonly version: string;
}

export function validateHello(
  { versions, hubId, agentVersion }: Hello,
  own: OwnHub,
): HelloValidation {
  const negotiation = negotiateVersion(supportedVersions, versions);
  if (negotiation.kind === "incompatible") {
    return rejected(
      hubErrors.PROTOCOL_VIOLATION,
      `the agent supports ${describeVersions(versions)} of the protocol, this hub supports ${describeVersions(supportedVersions)}; upgrade the ${negotiation.outdated === "own" ? "hub" : "agent"}`,
    );
  }
  if (hubId !== own.id) {
    return rejected(
      hubErrors.AGENT_REJECTED,
      `the agent is enrolled with hub ${hubId}, this is hub ${own.id}; nothing was changed`,
    );
  }
  const skew = versionSkew("agent", agentVersion, own.version);
  if (skew.kind === "unsupported") {
    const message = `${skew.message}; what it has installed keeps running`;
    return rejected(hubErrors.AGENT_VERSION_UNSUPPORTED, message);
  }
  return { kind: "accepted", version: negotiation.version };
}

function rejected(kind: ErrorKind, message: string): HelloValidation {
  return { kind: "rejected", error: new RpcError(status.FAILED_PRECONDITION, kind, message) };
}
