/** Maps errors of gRPC calls to the catalogue, with messages that name the next step. */
import { isNewKeyRequired } from "@flotilla/proto";
import { agentNamespace, bootstrapSecretName } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { type Metadata, status } from "@grpc/grpc-js";
import { agentErrors } from "../../base/errors/index.ts";

/** What to do when the hub does not know this agent, or is not the agent's hub. */
const enrolAgainHint = `to enrol this cluster there, copy the data of the Secret of a new ClusterRegistrationToken of that hub into the Secret ${agentNamespace}/${bootstrapSecretName}`;

/** OpenSSL's errors for a chain that leads to no trusted authority. */
const untrusted =
  /self-signed certificate|unable to (get|verify)|certificate signature failure|unknown ca/i;

/** HUB_CALL_FAILED, or KEY_REVOKED when the hub requests a new key. `call`: a verb phrase, such as `enrol with`. */
export function toCallError(call: string, address: string, error: unknown): AppError {
  const { code, details, metadata } = error as {
    readonly code?: status;
    readonly details?: string;
    readonly metadata?: Metadata;
  };
  const name = code === undefined ? "an unknown error" : status[code];
  return new AppError(
    isNewKeyRequired(metadata) ? agentErrors.KEY_REVOKED : agentErrors.HUB_CALL_FAILED,
    `could not ${call} the hub at ${address}: ${describeCallError(name, details ?? "")} (${name})`,
    { cause: error },
  );
}

/** The cause of a failed call, and what to do about it where that is known. `code`: the name of a gRPC status. */
function describeCallError(code: string, details: string): string {
  const message = causeOf(details);
  // biome-ignore lint/plugin: gRPC says why a handshake failed in a sentence alone
  if (code !== "UNAVAILABLE" || !untrusted.test(message)) return message;
  return `the server's certificate is not signed by the authority that this agent trusts: another hub answers there, or the hub has lost its authority, or rotated it while this agent was offline (${message}); ${enrolAgainHint}`;
}

/** How a session with the hub ended. */
export interface EndedSession {
  /** The name of a gRPC status, or a code of the catalogue. */
  readonly code: string;
  readonly message: string;
  /** 0 without a Welcome of the hub. */
  readonly connectedMs: number;
}

/** After these the hub rejects this agent until it enrols again. */
const rejections: readonly string[] = [
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  agentErrors.WRONG_HUB.code,
];

/** Why the agent has no connection to its hub, for people. `address`: of the hub. */
export function describeSessionEnd(
  address: string,
  { code, message, connectedMs }: EndedSession,
): string {
  const what =
    connectedMs > 0
      ? `the connection to the hub at ${address} ended`
      : `connect to the hub at ${address}`;
  const why = `${what}: ${describeCallError(code, message)}`;
  return rejections.includes(code) ? `${why}; ${enrolAgainHint}` : why;
}

/** grpc-js wraps a connection error into text about name resolution, which is not useful here. */
function causeOf(details: string): string {
  const [, error] = /Last error: (?:Error: )?(.*?)\.? ?Resolution note: /s.exec(details) ?? [];
  return error ?? details;
}
