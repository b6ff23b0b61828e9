/**
 * HTTP to one API server: a bounded pool of connections for requests, and separate connections for watches, so that
 * watches never delay a request.
 *
 * HTTP/1.1: against a real API server 1,000 creates take as long over HTTP/2, whose sessions need more memory.
 */
import { createSecureContext } from "node:tls";
import type { Dispatcher, Pool as PoolType } from "undici";
import { AppError } from "../../runtime/errors/index.ts";
import type { Clock } from "../../runtime/time/index.ts";
import { Pool, ProxyAgent } from "../../runtime/undici/index.ts";
import { dispatch, type Request, type StreamControl, type StreamSink } from "./dispatch.ts";
import { kubeErrors } from "./errors.ts";
import type { ClientCertificate, KubeConfig } from "./kubeconfig.ts";

export interface HttpResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export interface Transport {
  exchange(request: Request): Promise<HttpResponse>;
  /** A response without an end, such as a watch, over a connection of its own. */
  stream(request: Request, sink: StreamSink): StreamControl;
  /** Takes no new request, and resolves when all have ended. */
  finish(): Promise<void>;
  /** Aborts all requests. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly config: KubeConfig;
  readonly certificate: ClientCertificate | undefined;
  readonly connections: number;
  readonly clock: Clock;
}

const responseTimeoutMs = 10_000;
const connectTimeoutMs = 5_000;
/** Shorter than the 90 s for which API servers keep idle connections. */
const idleTimeoutMs = 30_000;
/** TCP keepalive: then a probe every second; the system closes the connection after ten without a response. */
const keepAliveDelayMs = 15_000;
/** For a server that accepts a watch and sends no header; requests have a shorter timeout of their own. */
const headersTimeoutMs = 30_000;
/** Far beyond any response that is expected: lists are paged. */
const maxResponseBytes = 256 * 1024 * 1024;

export function createTransport(options: TransportOptions): Transport {
  const { config, clock } = options;
  const { server } = config;
  const { origin } = new URL(server);
  const requests = openPool(options, origin, options.connections);
  const watches = openPool(options, origin, undefined);

  function exchange(request: Request): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let status = 0;
      let retryAfter: string | undefined;
      let size = 0;
      const { maxBytes = maxResponseBytes } = request;
      const control = dispatch(
        { pool: requests, origin, server, clock, responseTimeoutMs },
        request,
        {
          onStatus(code, after) {
            status = code;
            retryAfter = after;
          },
          onData(chunk) {
            chunks.push(chunk);
            size += chunk.length;
            if (size > maxBytes) control.abort(responseTooLarge(request.what, maxBytes));
          },
          onEnd(error) {
            if (error !== undefined) reject(error);
            else resolve({ status, retryAfter, text: textOf(chunks) });
          },
        },
      );
    });
  }

  return {
    exchange,
    stream: (request, sink) => dispatch({ pool: watches, origin, server, clock }, request, sink),
    async finish() {
      await Promise.all([requests.close(), watches.close()]);
    },
    async close() {
      await Promise.all([requests.destroy(), watches.destroy()]);
    },
  };
}

/** Without `connections` there is no limit. */
function openPool(
  options: TransportOptions,
  origin: string,
  connections: number | undefined,
): Dispatcher {
  const { config, certificate } = options;
  const connect = {
    secureContext: createSecureContext({
      ca: config.caData,
      cert: certificate?.certificate,
      key: certificate?.key,
    }),
    rejectUnauthorized: config.insecureSkipTlsVerify !== true,
    ...(config.tlsServerName === undefined ? {} : { servername: config.tlsServerName }),
    timeout: connectTimeoutMs,
    keepAliveInitialDelay: keepAliveDelayMs,
  };
  const poolOptions: PoolType.Options = {
    ...(connections === undefined ? {} : { connections }),
    allowH2: false,
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
    headersTimeout: headersTimeoutMs,
    bodyTimeout: 0,
  };
  if (config.proxyUrl === undefined) return new Pool(origin, { ...poolOptions, connect });
  return new ProxyAgent({ ...poolOptions, uri: config.proxyUrl, requestTls: connect });
}

export function responseTooLarge(what: string, maxBytes: number): AppError {
  const message = `${what}: the response has more than ${maxBytes} bytes`;
  return new AppError(kubeErrors.KUBE_RESPONSE_TOO_LARGE, message);
}

export function isResponseTooLarge(error: unknown): boolean {
  return error instanceof AppError && error.code === kubeErrors.KUBE_RESPONSE_TOO_LARGE.code;
}

export function badResponse(
  request: Pick<Request, "what">,
  server: string,
  problem: string,
  cause?: unknown,
): AppError {
  const message = `${request.what} on ${server}: unusable response: ${problem}`;
  return new AppError(kubeErrors.KUBE_BAD_RESPONSE, message, { cause });
}

function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined
    ? only.toString()
    : Buffer.concat(chunks).toString();
}
