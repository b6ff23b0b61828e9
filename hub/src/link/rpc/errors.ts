/** Errors that the hub answers agents with: a gRPC status, and a message that says what to do. */

import { cleanText } from "@flotilla/proto";
import { AppError, commonErrors, type ErrorKind, messageOf } from "@flotilla/shared/errors";
import { type Metadata, type ServerErrorResponse, status } from "@grpc/grpc-js";
import { hubErrors } from "../../base/index.ts";

/** The limit of an answer, in characters. */
const maxMessageLength = 2_048;

/** An error answer to an agent. */
export class RpcError extends AppError {
  override readonly name = "RpcError";
  readonly status: status;
  readonly trailers: Metadata | undefined;

  constructor(
    grpcStatus: status,
    kind: ErrorKind,
    message: string,
    options?: { readonly cause?: unknown; readonly trailers?: Metadata },
  ) {
    // It is sent in a header, which is short, and in which half a character would be a connection error.
    super(kind, cleanText(message, maxMessageLength), options);
    this.status = grpcStatus;
    this.trailers = options?.trailers;
  }

  /** For a message that a mapper of the wire rejected. */
  static protocolViolation(thrown: unknown): RpcError {
    return new RpcError(status.INVALID_ARGUMENT, hubErrors.PROTOCOL_VIOLATION, messageOf(thrown), {
      cause: thrown,
    });
  }

  /** Any thrown value as an answer. Internal errors are not shown to agents. */
  static fromThrown(thrown: unknown): RpcError {
    if (thrown instanceof RpcError) return thrown;
    const error = AppError.from(thrown);
    return new RpcError(
      status.UNAVAILABLE,
      commonErrors.INTERNAL,
      `the hub failed to handle the request (${error.code}); see the hub's log for the cause, then retry`,
      { cause: thrown },
    );
  }
}

/** The form that grpc-js expects. */
export function toGrpcError(error: RpcError): ServerErrorResponse {
  return Object.assign(new Error(error.message), {
    code: error.status,
    details: error.message,
    ...(error.trailers !== undefined && { metadata: error.trailers }),
  });
}
