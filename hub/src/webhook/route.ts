/** The HTTP route of webhooks: limits, and the parsing of a request. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Webhook } from "./webhook.ts";

const path = /^\/hooks\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/;
const maxBodyBytes = 256 * 1024;
/** For the whole body. */
const bodyTimeoutMs = 10_000;

/** Answers every request below `/hooks/`. `notReady`: the reason why calls are rejected now. */
export function webhookRoute(webhook: Webhook, notReady: () => string | undefined) {
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
    const from = request.socket.remoteAddress ?? "";
    if (!webhook.mayCall(from, secret))
      return answer(429, "too many calls, try again later\n", { "retry-after": "1" });
    const body = await readBody(request);
    // The rest is not read: the connection closes with the answer.
    if (body === undefined)
      return answer(413, "the body is larger than 256 KiB\n", { connection: "close" });
    const { authorization } = request.headers;
    const signature = request.headers["x-signature"];
    const { status, text } = await webhook.answer({
      from,
      secret,
      body,
      authorization,
      signature: Array.isArray(signature) ? signature[0] : signature,
    });
    answer(status, text, status === 503 ? { "retry-after": "5" } : {});
  };
}

/** Undefined when it is too large. A slow request is destroyed. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const tooSlow = setTimeout(() => request.destroy(), bodyTimeoutMs);
  try {
    // A destroyed request could not be answered.
    const incoming: AsyncIterable<Uint8Array> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of incoming) {
      size += chunk.byteLength;
      if (size > maxBodyBytes) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  } finally {
    clearTimeout(tooSlow);
  }
}
