/** The HTTP route of Receivers: limits, and what the senders need to know to repeat a call. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { clientAddress } from "./client-address.ts";
import { announcesMore, readBody } from "./read-body.ts";
import type { ReceiverServer } from "./receiver-server.ts";

/** Flux's. */
const maxBytes = 3 * 1024 * 1024;
const timeoutMs = 10_000;

export interface ReceiverRouteOptions {
  /** The reason why calls are rejected now. */
  readonly notReady: () => string | undefined;
  /** The header with the address of the client, which an ingress sets; absent: that of the connection counts. */
  readonly addressHeader?: string | undefined;
}

/** Answers every request below `/hook/`, whatever its method. */
export function receiverRoute(
  server: ReceiverServer,
  { notReady, addressHeader }: ReceiverRouteOptions,
) {
  return async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { ...retryHeaders(status), ...headers }).end();
    };
    // The body is not read: the connection closes with the answer.
    const answerUnread = (status: number): void => answer(status, { connection: "close" });
    if (notReady() !== undefined) return answerUnread(503);
    if (announcesMore(request, maxBytes)) return answerUnread(413);
    const admission = await server.admit({
      path: request.url ?? "",
      header: (name) => [request.headers[name] ?? ""].flat()[0] ?? "",
      from: clientAddress(request, addressHeader),
      evict: () => request.destroy(),
    });
    if (admission.kind === "answered") return answerUnread(admission.status);
    const body = await readBody(request, { maxBytes, timeoutMs }).finally(admission.release);
    if (body === undefined) return answerUnread(413);
    answer(await admission.answer(body));
  };
}

/** When a sender repeats a call that had this status. */
export function retryHeaders(status: number): Record<string, string> {
  if (status === 429) return { "retry-after": "1" };
  return status === 503 ? { "retry-after": "5" } : {};
}
