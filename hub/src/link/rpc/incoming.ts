/**
 * Messages of agents as the handlers get them: decoded, or the reason why they could not be. gRPC answers a decoder that throws
 * itself, with an internal error, and calls no handler.
 */
import {
  type loadFleetService,
  type ReadAgentMessage,
  type ReadEnrollRequest,
  type ReadRenewRequest,
  shown,
  type WireEnrollResponse,
  WireError,
  type WireHubMessage,
  type WireRenewResponse,
} from "@flotilla/proto";
import { messageOf } from "@flotilla/shared/errors";
import type {
  handleBidiStreamingCall,
  handleUnaryCall,
  ServerDuplexStream,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";

/** Read with `decoded`, where it is mapped to our own types. */
export type Incoming<T> =
  | { readonly kind: "message"; readonly message: T }
  | { readonly kind: "undecodable"; readonly why: string };

export type AgentStream = ServerDuplexStream<Incoming<ReadAgentMessage>, WireHubMessage>;

export interface IncomingHandlers extends UntypedServiceImplementation {
  readonly Enroll: handleUnaryCall<Incoming<ReadEnrollRequest>, WireEnrollResponse>;
  readonly Renew: handleUnaryCall<Incoming<ReadRenewRequest>, WireRenewResponse>;
  readonly Connect: handleBidiStreamingCall<Incoming<ReadAgentMessage>, WireHubMessage>;
}

type FleetService = ReturnType<typeof loadFleetService>["service"];
type Decode<T> = (bytes: Buffer) => T;

/** The service of the contract, whose messages of agents are decoded to `Incoming`. */
type IncomingService = {
  readonly [Method in "Enroll" | "Renew" | "Connect"]: Omit<
    FleetService[Method],
    "requestDeserialize"
  > & {
    readonly requestDeserialize: Decode<
      Incoming<ReturnType<FleetService[Method]["requestDeserialize"]>>
    >;
  };
};

/**
 * What Enroll and Renew take: a token, a certificate request, and the most and longest labels that the contract allows. No agent
 * sends a longer one, so it is not decoded.
 */
const maxRequestBytes = 256 * 1024;

/** The service whose handlers are `IncomingHandlers`. */
export function withIncomingDecoders({ Enroll, Renew, Connect }: FleetService): IncomingService {
  return {
    Enroll: { ...Enroll, requestDeserialize: toIncoming(limited(Enroll.requestDeserialize)) },
    Renew: { ...Renew, requestDeserialize: toIncoming(limited(Renew.requestDeserialize)) },
    Connect: { ...Connect, requestDeserialize: toIncoming(Connect.requestDeserialize) },
  };
}

/** The message. Throws a WireError, as the mappers do for a message that is decoded and not allowed. */
export function decoded<T>(incoming: Incoming<T>): T {
  if (incoming.kind === "undecodable") throw new WireError(incoming.why);
  return incoming.message;
}

function toIncoming<T>(decode: Decode<T>): Decode<Incoming<T>> {
  return (bytes) => {
    try {
      return { kind: "message", message: decode(bytes) };
    } catch (thrown) {
      const why = `the message of ${bytes.length} bytes cannot be decoded: ${shown(messageOf(thrown))}`;
      return { kind: "undecodable", why };
    }
  };
}

function limited<T>(decode: Decode<T>): Decode<T> {
  return (bytes) => {
    if (bytes.length > maxRequestBytes)
      throw new WireError(`a request has at most ${maxRequestBytes} bytes`);
    return decode(bytes);
  };
}
