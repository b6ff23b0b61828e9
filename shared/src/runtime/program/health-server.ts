/** The internal HTTP server of a process: `/healthz` (alive), `/readyz` (ready) and `/metrics`. Not meant for an Ingress. */
import { pipeline } from "node:stream/promises";
import type { Registry } from "prom-client";
import { type HttpServer, listenHttp, pathOf, respond } from "./http-server.ts";
import type { ListenAddress } from "./listen-address.ts";

export interface HealthServerOptions {
  readonly listen: ListenAddress;
  readonly metrics: Registry;
  /** Further output of `/metrics`, in the text format of Prometheus, in chunks. */
  readonly moreMetrics?: () => AsyncIterable<string>;
  /** Why the process is not ready, for people; undefined when it is. */
  readonly notReady: () => string | undefined;
  /** What `/readyz` says when the process is ready; default `ok`. */
  readonly ready?: () => string;
}

/** Rejects when it cannot listen. */
export function startHealthServer({
  listen,
  metrics,
  moreMetrics,
  notReady,
  ready = () => "ok",
}: HealthServerOptions): Promise<HttpServer> {
  async function* withMore(own: string): AsyncIterable<string> {
    yield own;
    if (moreMetrics !== undefined) yield* moreMetrics();
  }

  return listenHttp(listen, (request, response) => {
    const path = pathOf(request);
    if (request.method !== "GET" && request.method !== "HEAD") respond(response, 405, "only GET\n");
    else if (path === "/healthz") respond(response, 200, "ok\n");
    else if (path === "/readyz") {
      const why = notReady();
      respond(response, why === undefined ? 200 : 503, `${why ?? ready()}\n`);
    } else if (path === "/metrics") {
      metrics.metrics().then(
        (own) => {
          const type = metrics.contentType;
          response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
          // The client may close the connection before the end.
          pipeline(withMore(own), response).catch(() => undefined);
        },
        () => respond(response, 500, "metrics could not be collected\n"),
      );
    } else respond(response, 404, "not found; see /healthz, /readyz and /metrics\n");
  });
}
