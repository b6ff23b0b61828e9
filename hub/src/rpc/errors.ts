/** Errors that the hub answers agents with: a gRPC status, and a message that says what to do. */
import { cleanText } from "@flotilla/proto";
import {
  AppError,
  commonErrors,
  defineErrors,
  type ErrorKind,
  messageOf,
} from "@flotilla/shared/errors";
import { type Metadata, type ServerErrorResponse, status } from "@grpc/grpc-js";

export const rpcErrors = defineErrors({
  AGENT_UNKNOWN: {
    retryable: true,
    help: "The agent has no certificate, or one that this hub did not issue or that has expired. Copy the content of the Secret of a ClusterRegistrationToken of this hub into the Secret flotilla-agent/flotilla-bootstrap of its cluster; the agent then enrols again.",
  },
  AGENT_REJECTED: {
    retryable: true,
    help: "The agent's certificate is for a Cluster that no longer exists on this hub, was revoked or is enrolled with another key; or it is for another hub. Nothing that the agent installed is changed. To enrol the cluster again, copy the content of the Secret of a new ClusterRegistrationToken into the Secret flotilla-agent/flotilla-bootstrap.",
  },
  AGENT_VERSION_UNSUPPORTED: {
    retryable: true,
    help: "The hub does not support the version of the agent. What the agent has installed keeps running. Upgrade the side that the message names; the agent connects again by itself.",
  },
  AGENT_REPLACED: {
    retryable: true,
    help: "Another agent connected with the same identity; the newer connection replaces the older. If this repeats, two agents use copies of one Secret flotilla-agent/flotilla-identity: delete it in one cluster, restart that agent and enrol it as a cluster of its own.",
  },
  PROTOCOL_VIOLATION: {
    retryable: true,
    help: "The other side sent something that the protocol between hub and agent does not allow. Check that the versions of hub and agent are compatible.",
  },
  AGENT_RATE_LIMITED: {
    retryable: true,
    help: "One agent connects, calls or renews its certificate too often. It backs off and retries; other agents are not affected. If it continues, check that agent's log, and whether the Secret flotilla-agent/flotilla-identity was copied.",
  },
  PORT_UNAVAILABLE: {
    retryable: false,
    help: "The hub cannot listen on the address of its gRPC port. Another program uses the port, or the address is not one of this machine; choose another with --grpc-listen.",
  },
  HUB_NOT_READY: {
    retryable: true,
    help: "The replica of the hub is starting and its caches have not synced yet, or it is stopping. The agent reconnects.",
  },
});

/** Of an answer, in characters. */
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
    return new RpcError(status.INVALID_ARGUMENT, rpcErrors.PROTOCOL_VIOLATION, messageOf(thrown), {
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
