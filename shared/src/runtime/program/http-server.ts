/** The HTTP servers of a process: one for its public routes, another one (health-server.ts) for probes and metrics. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createFairPool } from "../concurrency/index.ts";
import { systemClock } from "../time/index.ts";
import { formatListenAddress, type ListenAddress } from "./listen-address.ts";

export interface HttpServer {
  /** Its listen address, `host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

export type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Connections of a server. Beyond, the oldest of the address that has the most is closed for a new one, so that one client keeps
 * no other out. All connections of an ingress have one address, and share one limit.
 */
export interface ConnectionLimits {
  readonly capacity: number;
  /** How long one is kept in any case while its address has no more than another one. */
  readonly keepMs: number;
}

export interface HttpServerOptions {
  readonly listen: ListenAddress;
  /** Default: 2,000. */
  readonly connections?: ConnectionLimits;
  /** Handlers by prefix of the path. */
  readonly routes: Readonly<Record<string, Route>>;
}

const defaultConnections: ConnectionLimits = { capacity: 2_000, keepMs: 10_000 };
/** Until the headers of a request are there; bodies have limits of their own. */
const headersTimeoutMs = 15_000;

/** Serves `routes` and answers 404 to everything else. Rejects when it cannot listen. */
export function startHttpServer({
  listen,
  connections,
  routes,
}: HttpServerOptions): Promise<HttpServer> {
  return listenHttp(
    listen,
    (request, response) => {
      const path = pathOf(request);
      const route = Object.entries(routes).find(([prefix]) => path.startsWith(prefix))?.[1];
      if (route === undefined) respond(response, 404, "not found\n");
      else route(request, response).catch(() => response.destroy());
    },
    connections,
  );
}

/** Rejects when it cannot listen. */
export async function listenHttp(
  listen: ListenAddress,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  connections = defaultConnections,
): Promise<HttpServer> {
  const server = createServer({ headersTimeout: headersTimeoutMs }, handle);
  const pool = createFairPool(systemClock, connections);
  server.on("connection", (socket: Socket) => {
    const release = pool.admit(socket.remoteAddress ?? "", () => socket.destroy());
    if (release === undefined) socket.destroy();
    else socket.once("close", release);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listen.port, listen.host, resolve);
  });
  // Listening on a TCP port, so the address is one.
  const { port } = server.address() as AddressInfo;
  return {
    address: formatListenAddress({ host: listen.host, port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The path of a request without its query. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? "/").split("?", 1)[0] ?? "/";
}

export function respond(response: ServerResponse, status: number, body: string): void {
  const type = "text/plain; charset=utf-8";
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
}
