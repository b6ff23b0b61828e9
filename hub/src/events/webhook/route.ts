/** The HTTP route of webhooks: limits, and the parsing of a request. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { clientAddress } from "../receiver/client-address.ts";
import { readBody } from "../receiver/read-body.ts";
import { retryHeaders } from "../receiver/route.ts";
import type { Webhook } from "./webhook.ts";

const path = /^\/hooks\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/;
const maxBytes = 256 * 1024;
/** For the whole body. */
const timeoutMs = 10_000;

export interface WebhookRouteOptions {
  /** The reason why calls are rejected now. */
  readonly notReady: () => string | undefined;
  /** The header with the address of the client, which an ingress sets; absent: that of the connection counts. */
  readonly addressHeader?: string | undefined;
}

/** Answers every request below `/hooks/`. */
export function webhookRoute(webhook: Webhook, { notReady, addressHeader }: WebhookRouteOptions) {
  return async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, text: string, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers });
      response.end(text);
    };
    const [, namespace = "", name = ""] = path.exec(request.url?.split("?", 1)[0] ?? "") ?? [];
    if (name === "") return answer(404, "webhooks are at /hooks/NAMESPACE/SECRET\n");
    if (request.method !== "POST") return answer(405, "only POST\n", { allow: "POST" });
    if (notReady() !== undefined)
      return answer(503, "the hub is not ready\n", { "retry-after": "5" });
    const secret = { namespace, name };
    const header = request.headers["x-signature"];
    const signature = Array.isArray(header) ? header[0] : header;
    const { authorization } = request.headers;
    const admission = await webhook.admit({
      from: clientAddress(request, addressHeader),
      secret,
      authorization,
      signature,
      evict: () => request.destroy(),
    });
    if (admission.kind === "answered") {
      const { status, text } = admission.answer;
      // The body is not read: the connection closes with the answer.
      return answer(status, text, { connection: "close", ...retryHeaders(status) });
    }
    const body = await readBody(request, { maxBytes, timeoutMs }).finally(admission.release);
    // The rest is not read: the connection closes with the answer.
    if (body === undefined)
      return answer(413, "the body is larger than 256 KiB\n", { connection: "close" });
    const { status, text } = await webhook.answer({ secret, body, authorization, signature });
    answer(status, text, retryHeaders(status));
  };
}
