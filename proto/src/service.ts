/** The service of fleet.proto, as grpc-js takes it. */
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
 * Bounds of one message on the wire, both ways, in bytes. A content may be some megabytes of compressed values; an
 * agent's Hello names up to ten thousand deployments.
 */
export const maxMessageBytes = 16 * 1024 * 1024;

/** Reads fleet.proto: the client's constructor and the service's definition. Costs some 30 ms, so once a process. */
export function loadFleetService(): ProtoGrpcType["flotilla"]["v1"]["Fleet"] {
  const definition = loadSync(fileURLToPath(new URL("../fleet.proto", import.meta.url)), {
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const loaded: GrpcObject = loadPackageDefinition(definition);
  // The generated type describes this very file; loadPackageDefinition cannot know it.
  return (loaded as unknown as ProtoGrpcType).flotilla.v1.Fleet;
}
