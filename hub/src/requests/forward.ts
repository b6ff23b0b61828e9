/** Passes a request on to the replica of the hub that the agent is connected to. */
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import { pipeline } from "node:stream/promises";
import { tokenHeader } from "@flotilla/shared/api/names";
import { messageOf } from "@flotilla/shared/errors";

/** Set on a request that was passed on: it is not passed on again. */
export const forwardedHeader = "flotilla-forwarded";

export interface Forwarding {
  /** `host:port` of the other replica. */
  readonly address: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** Resolves when the answer of the other replica was passed back. Rejects if there was none, or if it is not complete. */
export async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { address, token, signal }: Forwarding,
): Promise<void> {
  const outgoing = sendRequest(`http://${address}${incoming.url ?? "/"}`, {
    headers: { [tokenHeader]: token, [forwardedHeader]: "true" },
    signal,
  }).end();
  try {
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    const { statusCode = 502, headers } = answer;
    response.writeHead(statusCode, { "content-type": headers["content-type"] ?? "text/plain" });
    response.flushHeaders();
    await pipeline(answer, response);
  } catch (thrown) {
    throw new Error(`ask the replica of the hub at ${address}: ${messageOf(thrown)}`);
  }
}
