/** Whether this hub and an agent belong together, and what they speak. Pure. */
import type { AgentMessage } from "@flotilla/proto/messages.ts";
import { describeVersions, negotiateVersion, supportedVersions } from "@flotilla/proto/versions.ts";
import { status } from "@grpc/grpc-js";
import { RpcError, serveErrors } from "../serve/errors.ts";

export type Hello = Extract<AgentMessage, { kind: "hello" }>;

/** Gives the version of the stream. Throws an RpcError that says which of the two has to change. */
export function checkHello({ versions, hubId }: Hello, ownHubId: string): number {
  const negotiation = negotiateVersion(supportedVersions, versions);
  if (negotiation.kind === "incompatible") {
    throw new RpcError(
      status.FAILED_PRECONDITION,
      serveErrors.PROTOCOL_BROKEN,
      `the agent speaks ${describeVersions(versions)} of the protocol, this hub speaks ${describeVersions(supportedVersions)}; bring the ${negotiation.outdated === "own" ? "hub" : "agent"} up to date`,
    );
  }
  if (hubId !== ownHubId) {
    throw new RpcError(
      status.FAILED_PRECONDITION,
      serveErrors.AGENT_REFUSED,
      `the agent belongs to hub ${hubId}, this is hub ${ownHubId}; nothing was changed`,
    );
  }
  return negotiation.version;
}
