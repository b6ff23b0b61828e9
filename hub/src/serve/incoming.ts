/**
 * What agents say, as the handlers get it: decoded, or why it could not be. A decoder that throws would be answered by gRPC
 * itself, in words that tell nobody anything, and no handler would hear of it.
 */
import type {
  loadFleetService,
  ReadAgentMessage,
  ReadEnrollRequest,
  ReadRenewRequest,
  WireEnrollResponse,
  WireHubMessage,
  WireRenewResponse,
} from "@flotilla/proto/service.ts";
import { shown, WireError } from "@flotilla/proto/validation.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type {
  handleBidiStreamingCall,
  handleUnaryCall,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";

/** For `readable` alone, where it is mapped to our own types. */
export type Incoming<T> =
  | { readonly kind: "message"; readonly message: T }
  | { readonly kind: "unreadable"; readonly why: string };

export interface IncomingHandlers extends UntypedServiceImplementation {
  readonly Enroll: handleUnaryCall<Incoming<ReadEnrollRequest>, WireEnrollResponse>;
  readonly Renew: handleUnaryCall<Incoming<ReadRenewRequest>, WireRenewResponse>;
  readonly Connect: handleBidiStreamingCall<Incoming<ReadAgentMessage>, WireHubMessage>;
}

type FleetService = ReturnType<typeof loadFleetService>["service"];
type Decode<T> = (bytes: Buffer) => T;

/**
 * Of a request to enrol or to renew: a token, a request for a certificate, and as many labels of the greatest length as the
 * contract allows. What is longer was not made by an agent, and is not even decoded.
 */
const maxRequestBytes = 256 * 1024;

/** The service whose handlers are `IncomingHandlers`. */
export function withIncoming({ Enroll, Renew, Connect }: FleetService) {
  return {
    Enroll: { ...Enroll, requestDeserialize: incoming(short(Enroll.requestDeserialize)) },
    Renew: { ...Renew, requestDeserialize: incoming(short(Renew.requestDeserialize)) },
    Connect: { ...Connect, requestDeserialize: incoming(Connect.requestDeserialize) },
  };
}

/** The message. Throws a WireError, as the mappers do with a message that can be read and is not allowed. */
export function readable<T>(incoming: Incoming<T>): T {
  if (incoming.kind === "unreadable") throw new WireError(incoming.why);
  return incoming.message;
}

function incoming<T>(decode: Decode<T>): Decode<Incoming<T>> {
  return (bytes) => {
    try {
      return { kind: "message", message: decode(bytes) };
    } catch (thrown) {
      const why = `the message of ${bytes.length} bytes cannot be read: ${shown(messageOf(thrown))}`;
      return { kind: "unreadable", why };
    }
  };
}

function short<T>(decode: Decode<T>): Decode<T> {
  return (bytes) => {
    if (bytes.length > maxRequestBytes)
      throw new WireError(`a request may have ${maxRequestBytes} bytes at most`);
    return decode(bytes);
  };
}
