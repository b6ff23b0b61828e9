/** The HTTP port of a process: `/healthz` (it runs), `/readyz` (it does its work), `/metrics`, and what it has besides. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import type { Registry } from "prom-client";
import { formatListenAddress, type ListenAddress } from "./listen-address.ts";

export interface HealthServer {
  /** Where it listens, `host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

export interface HealthServerOptions {
  readonly listen: ListenAddress;
  readonly metrics: Registry;
  /** What `/metrics` says besides, in the text format of Prometheus, in pieces. */
  readonly moreMetrics?: () => AsyncIterable<string>;
  /** Why the process is not ready, as a sentence; undefined when it is. */
  readonly notReady: () => string | undefined;
  /** What answers requests whose path begins with this. */
  readonly routes?: Readonly<Record<string, Route>>;
}

export type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Rejects when the port cannot be had. */
export async function startHealthServer({
  listen,
  metrics,
  moreMetrics,
  notReady,
  routes = {},
}: HealthServerOptions): Promise<HealthServer> {
  async function* textBehind(own: string): AsyncIterable<string> {
    yield own;
    if (moreMetrics !== undefined) yield* moreMetrics();
  }

  const server = createServer((request, response) => {
    const answer = (status: number, body: string): void => {
      const type = "text/plain; charset=utf-8";
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
    };
    const path = (request.url ?? "/").split("?", 1)[0];
    const route = Object.entries(routes).find(([prefix]) => path?.startsWith(prefix))?.[1];
    if (route !== undefined) route(request, response).catch(() => response.destroy());
    else if (request.method !== "GET" && request.method !== "HEAD") answer(405, "only GET\n");
    else if (path === "/healthz") answer(200, "ok\n");
    else if (path === "/readyz") {
      const why = notReady();
      answer(why === undefined ? 200 : 503, `${why ?? "ok"}\n`);
    } else if (path === "/metrics") {
      metrics.metrics().then(
        (own) => {
          const type = metrics.contentType;
          response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
          // Whoever does not read it to its end hears no more.
          pipeline(textBehind(own), response).catch(() => undefined);
        },
        () => answer(500, "metrics could not be collected\n"),
      );
    } else answer(404, "there are /healthz, /readyz and /metrics\n");
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
