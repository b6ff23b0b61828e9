/** Why the hub turns an agent away. Each is answered with a status of gRPC and a sentence that says what to do. */
import { cleanText } from "@flotilla/proto/validation.ts";
import {
  AppError,
  commonErrors,
  defineErrors,
  type ErrorKind,
  messageOf,
} from "@flotilla/shared/errors/app-error.ts";
import { type Metadata, type ServerErrorResponse, status } from "@grpc/grpc-js";

export const serveErrors = defineErrors({
  AGENT_UNKNOWN: {
    retryable: true,
    help: "The agent showed no certificate, or one that this hub did not issue or that has ended. Put the content of the Secret of a ClusterRegistrationToken of this hub into the Secret flotilla-agent/flotilla-bootstrap of its cluster: it enrols again by itself.",
  },
  AGENT_REFUSED: {
    retryable: true,
    help: "The agent's certificate is for a Cluster that does not exist on this hub any more, that was revoked, or that is enrolled with another key by now; or it is for another hub. Nothing that it installed is touched. To have the cluster back, put the content of the Secret of a new ClusterRegistrationToken into the Secret flotilla-agent/flotilla-bootstrap: its agent enrols again by itself.",
  },
  AGENT_REPLACED: {
    retryable: true,
    help: "Another agent connected with the same identity, and the newer connection is kept. If this repeats, two agents use a copy of the same Secret flotilla-agent/flotilla-identity: delete one of them, start that agent anew and enrol it as a cluster of its own.",
  },
  PROTOCOL_BROKEN: {
    retryable: true,
    help: "The other side sent something that the contract between hub and agent does not allow. Check that the versions of hub and agent fit together.",
  },
  AGENT_TOO_BUSY: {
    retryable: true,
    help: "One agent connects, calls or renews its certificate more often than an agent does that works as it should. It waits and tries again by itself; others are served meanwhile. If it goes on, look at that agent's log, and whether somebody else has a copy of the Secret flotilla-agent/flotilla-identity.",
  },
  PORT_UNAVAILABLE: {
    retryable: false,
    help: "The hub cannot listen on the address of its gRPC port. Another program has the port, or the address is not one of this machine: choose another with the hub's flag.",
  },
  HUB_NOT_READY: {
    retryable: true,
    help: "The hub has only just started and does not know the fleet yet, or it is going away. The agent connects again by itself.",
  },
});

/** Of an answer. */
const mostChars = 2_048;

/** An answer to an agent that is no success. */
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
    // It travels in a header, which is short, and where half a character would be an error of the connection.
    super(kind, cleanText(message, mostChars), options);
    this.status = grpcStatus;
    this.trailers = options?.trailers;
  }

  /** For what a mapper of the wire refused. */
  static protocolBroken(thrown: unknown): RpcError {
    return new RpcError(status.INVALID_ARGUMENT, serveErrors.PROTOCOL_BROKEN, messageOf(thrown), {
      cause: thrown,
    });
  }

  /** Any thrown value as an answer. What is not meant for agents is not shown to them. */
  static answerTo(thrown: unknown): RpcError {
    if (thrown instanceof RpcError) return thrown;
    const error = AppError.from(thrown);
    return new RpcError(
      status.UNAVAILABLE,
      commonErrors.INTERNAL,
      `the hub could not do it (${error.code}); its log says why, try again`,
      { cause: thrown },
    );
  }
}

/** As grpc-js takes it. */
export function statusOf(error: RpcError): ServerErrorResponse {
  return Object.assign(new Error(error.message), {
    code: error.status,
    details: error.message,
    ...(error.trailers !== undefined && { metadata: error.trailers }),
  });
}
