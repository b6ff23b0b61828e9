/** An HTTP or HTTPS server on a free port, for tests of rare responses. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { TestCertificate } from "./certificate.ts";

export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface TestServer extends AsyncDisposable {
  readonly host: string;
  readonly origin: string;
  /** The received requests, in order. */
  readonly seen: readonly SeenRequest[];
  /** The paths of the received requests. */
  paths(): readonly string[];
}

export type Respond = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface TestServerOptions {
  readonly certificate?: TestCertificate;
  /** Clients need a certificate of this authority. */
  readonly clientCa?: string;
}

export async function startTestServer(
  respond: Respond,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const one: SeenRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(one);
    await respond(one, response);
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch(() => response.destroy());
  };
  const { certificate, clientCa } = options;
  const server =
    certificate === undefined
      ? createServer(listener)
      : createTlsServer(
          {
            cert: certificate.certPem,
            key: certificate.keyPem,
            ...(clientCa === undefined
              ? {}
              : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
          },
          listener,
        );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("the test server has no port");
  const host = `127.0.0.1:${address.port}`;

  return {
    host,
    origin: `${certificate === undefined ? "http" : "https"}://${host}`,
    seen,
    paths: () => seen.map(({ path }) => path),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends a response. */
export function send(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array = "",
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, headers);
  response.end(body);
}
