/** The HTTP route of webhooks: limits, and what the senders need to know to repeat a call. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { clientAddress } from "./client-address.ts";
import { announcesMore, readBody } from "./read-body.ts";
import type { WebhookAnswer, WebhookServer } from "./webhook-server.ts";

/** For the whole body. */
const timeoutMs = 10_000;

export interface WebhookRouteOptions {
  /** The reason why calls are rejected now. */
  readonly notReady: () => string | undefined;
  /** The header with the address of the client, which an ingress sets; absent: the address of the connection counts. */
  readonly addressHeader?: string | undefined;
}

export type WebhookRoute = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Answers every request at the path of the server, whatever its method. */
export function webhookRoute(
  { maxBytes, answers, admit }: WebhookServer,
  { notReady, addressHeader }: WebhookRouteOptions,
): WebhookRoute {
  return async function handle(request, response) {
    const respond = ({ status, text, headers }: WebhookAnswer, more = {}): void => {
      const type = text === undefined ? {} : { "content-type": "text/plain; charset=utf-8" };
      response.writeHead(status, { ...type, ...retryHeaders(status), ...headers, ...more });
      response.end(text);
    };
    // The body is not read: the connection closes with the answer.
    const respondUnread = (answer: WebhookAnswer): void => respond(answer, { connection: "close" });
    if (notReady() !== undefined) return respondUnread(answers.notReady);
    if (announcesMore(request, maxBytes)) return respondUnread(answers.tooLarge);
    const admission = await admit({
      method: request.method ?? "",
      path: request.url ?? "",
      header: (name) => [request.headers[name] ?? ""].flat()[0] ?? "",
      from: clientAddress(request, addressHeader),
      evict: () => request.destroy(),
    });
    if (admission.kind === "answered") return respondUnread(admission.answer);
    const body = await readBody(request, { maxBytes, timeoutMs }).finally(admission.release);
    if (body === undefined) return respondUnread(answers.tooLarge);
    respond(await admission.answer(body));
  };
}

/** When a sender repeats a call that had this status. */
function retryHeaders(status: number): Record<string, string> {
  if (status === 429) return { "retry-after": "1" };
  return status === 503 ? { "retry-after": "5" } : {};
}
