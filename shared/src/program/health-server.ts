/** The HTTP server of a process: `/healthz` (alive), `/readyz` (ready), `/metrics`, and further routes. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import type { Registry } from "prom-client";
import { formatListenAddress, type ListenAddress } from "./listen-address.ts";

export interface HealthServer {
  /** Its listen address, `host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

export interface HealthServerOptions {
  readonly listen: ListenAddress;
  readonly metrics: Registry;
  /** Further output of `/metrics`, in the text format of Prometheus, in chunks. */
  readonly moreMetrics?: () => AsyncIterable<string>;
  /** Why the process is not ready, for people; undefined when it is. */
  readonly notReady: () => string | undefined;
  /** Handlers by prefix of the path. */
  readonly routes?: Readonly<Record<string, Route>>;
}

export type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Rejects when it cannot listen. */
export async function startHealthServer({
  listen,
  metrics,
  moreMetrics,
  notReady,
  routes = {},
}: HealthServerOptions): Promise<HealthServer> {
  async function* withMore(own: string): AsyncIterable<string> {
    yield own;
    if (moreMetrics !== undefined) yield* moreMetrics();
  }

  const server = createServer((request, response) => {
    const respond = (status: number, body: string): void => {
      const type = "text/plain; charset=utf-8";
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
    };
    const path = (request.url ?? "/").split("?", 1)[0];
    const route = Object.entries(routes).find(([prefix]) => path?.startsWith(prefix))?.[1];
    if (route !== undefined) route(request, response).catch(() => response.destroy());
    else if (request.method !== "GET" && request.method !== "HEAD") respond(405, "only GET\n");
    else if (path === "/healthz") respond(200, "ok\n");
    else if (path === "/readyz") {
      const why = notReady();
      respond(why === undefined ? 200 : 503, `${why ?? "ok"}\n`);
    } else if (path === "/metrics") {
      metrics.metrics().then(
        (own) => {
          const type = metrics.contentType;
          response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
          // The client may close the connection before the end.
          pipeline(withMore(own), response).catch(() => undefined);
        },
        () => respond(500, "metrics could not be collected\n"),
      );
    } else respond(404, "not found; see /healthz, /readyz and /metrics\n");
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
