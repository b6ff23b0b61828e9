/** The service of fleet.proto for grpc-js. */
import { fileURLToPath } from "node:url";
import { type GrpcObject, loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { ProtoGrpcType } from "./generated/fleet.ts";

export type {
  AgentMessage as WireAgentMessage,
  AgentMessage__Output as ReadAgentMessage,
} from "./generated/flotilla/v1/AgentMessage.ts";
export type { EnrollRequest__Output as ReadEnrollRequest } from "./generated/flotilla/v1/EnrollRequest.ts";
export type { EnrollResponse as WireEnrollResponse } from "./generated/flotilla/v1/EnrollResponse.ts";
export type { FleetHandlers } from "./generated/flotilla/v1/Fleet.ts";
export type {
  HubMessage as WireHubMessage,
  HubMessage__Output as ReadHubMessage,
} from "./generated/flotilla/v1/HubMessage.ts";
export type { RenewRequest__Output as ReadRenewRequest } from "./generated/flotilla/v1/RenewRequest.ts";
export type { RenewResponse as WireRenewResponse } from "./generated/flotilla/v1/RenewResponse.ts";

/**
 * The limit of one message, in both directions, in bytes. A content may have some megabytes of compressed values; an agent's
 * Hello lists up to ten thousand deployments.
 */
export const maxMessageBytes = 16 * 1024 * 1024;

/** Loads fleet.proto: the client's constructor and the service's definition. Takes 30 ms, so call it once per process. */
export function loadFleetService(): ProtoGrpcType["flotilla"]["v1"]["Fleet"] {
  const definition = loadSync(fileURLToPath(new URL("../fleet.proto", import.meta.url)), {
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const loaded: GrpcObject = loadPackageDefinition(definition);
  // The generated type describes this file; loadPackageDefinition cannot infer it.
  return (loaded as unknown as ProtoGrpcType).flotilla.v1.Fleet;
}
