/** An HTTP server that forwards requests unchanged to another one, and lets a test act between two of them. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

export interface ForwardingServer extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
}

/** `before` is awaited before the request `METHOD path` is forwarded to the server at `port`. */
export async function startForwardingServer(
  port: number,
  before: (request: string) => Promise<void>,
): Promise<ForwardingServer> {
  async function forward(received: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = received;
    await before(`${method} ${path}`);
    // With the host that was signed.
    const onward = request({ host: "127.0.0.1", port, method, path, headers });
    onward.end();
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      onward.once("response", resolve).once("error", reject);
    });
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    await pipeline(answer, response);
  }

  const server = createServer((received, response) => {
    forward(received, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${own}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
