/** What a person reads when there is no connection: what was tried, against what, what came back, what to do. Pure. */
import { agentNamespace } from "@flotilla/shared/api/names.ts";
import { bootstrapSecretName } from "../identity/bootstrap.ts";
import type { ConnectionEnd } from "./connection.ts";
import { linkErrors } from "./errors.ts";

/** OpenSSL's words for a chain that leads to no authority that is trusted. */
const untrusted =
  /self-signed certificate|unable to (get|verify)|certificate signature failure|unknown ca/i;

export function whyNotConnected(
  address: string,
  { code, message: told, livedMs }: Pick<ConnectionEnd, "code" | "message" | "livedMs">,
): string {
  const message = whatFailed(code, told);
  const tried =
    livedMs > 0
      ? `the connection to the hub at ${address} ended`
      : `connect to the hub at ${address}`;
  const isRefused =
    code === "PERMISSION_DENIED" ||
    code === "UNAUTHENTICATED" ||
    code === linkErrors.WRONG_HUB.code;
  return isRefused ? `${tried}: ${message}; ${wayBack}` : `${tried}: ${message}`;
}

/** The cause of a call's failure, and what to do where that is known. */
export function whatFailed(code: string, told: string): string {
  const message = cause(told);
  if (code !== "UNAVAILABLE" || !untrusted.test(message)) return message;
  return `its certificate is not from the authority that this agent knows its hub by, so another hub answers there, or the hub has lost its authority, or rotated it while this agent was away (${message}); ${wayBack}`;
}

/** What grpc-js says around an error of the connection tells nobody anything. */
function cause(message: string): string {
  const [, error] = /Last error: (?:Error: )?(.*?)\.? ?Resolution note: /s.exec(message) ?? [];
  return error ?? message;
}

const wayBack = `to enrol this cluster there, put the content of the Secret of a new ClusterRegistrationToken of that hub into the Secret ${agentNamespace}/${bootstrapSecretName}`;
