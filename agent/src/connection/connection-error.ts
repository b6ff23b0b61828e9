/** The message that people read when the agent has no connection to its hub. Pure. */
import { agentErrors } from "../errors/agent-errors.ts";
import { describeCallError, enrolAgainHint } from "../hubclient/call-error.ts";
import type { SessionEnd } from "./session.ts";

/** After these the hub will not accept this agent again by itself. */
const rejections: readonly string[] = [
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  agentErrors.WRONG_HUB.code,
];

/** `address`: of the hub. */
export function describeSessionEnd(
  address: string,
  { code, message, connectedMs }: Pick<SessionEnd, "code" | "message" | "connectedMs">,
): string {
  const what =
    connectedMs > 0
      ? `the connection to the hub at ${address} ended`
      : `connect to the hub at ${address}`;
  const why = `${what}: ${describeCallError(code, message)}`;
  return rejections.includes(code) ? `${why}; ${enrolAgainHint}` : why;
}
