/** The HTTP port of a process: `/healthz` (it runs), `/readyz` (it does its work) and `/metrics`. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";
import { formatListenAddress, type ListenAddress } from "../config/listen-address.ts";

export interface HealthServer {
  /** Where it listens, `host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

export interface HealthServerOptions {
  readonly listen: ListenAddress;
  readonly metrics: Registry;
  /** Why the process is not ready, as a sentence; undefined when it is. */
  readonly notReady: () => string | undefined;
}

/** Rejects when the port cannot be had. */
export async function startHealthServer({
  listen,
  metrics,
  notReady,
}: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = "text/plain; charset=utf-8"): void => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
    };
    const path = (request.url ?? "/").split("?", 1)[0];
    if (request.method !== "GET" && request.method !== "HEAD") answer(405, "only GET\n");
    else if (path === "/healthz") answer(200, "ok\n");
    else if (path === "/readyz") {
      const why = notReady();
      answer(why === undefined ? 200 : 503, `${why ?? "ok"}\n`);
    } else if (path === "/metrics") {
      metrics.metrics().then(
        (text) => answer(200, text, metrics.contentType),
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
