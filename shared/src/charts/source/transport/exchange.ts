/**
 * One HTTP exchange with a repository: follows redirects without sending credentials to another host, has one timeout for
 * the whole, and reports every failure with the request and the reason.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { AppError, type ErrorKind, messageOf } from "../../../runtime/errors/index.ts";
import { chartErrors, describeUrl, type RepositoryAccess, RepositoryError } from "../index.ts";
import type { ConnectionPools } from "./connection-pools.ts";
import { EgressDenied } from "./egress-connector.ts";
import { describeNetworkFailure, isClosedConnection } from "./network-error.ts";

export interface ExchangeRequest {
  readonly method: "GET" | "HEAD" | "POST";
  readonly url: URL;
  readonly access: RepositoryAccess;
  /** Sent to the scheme, host and port of `url`: a redirect there keeps it, as in Helm. Once another host was asked it is gone. */
  readonly authorization?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange, the body included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The kind of the error of a failure. */
  readonly errorKind: ErrorKind;
  /** Where the certificate authorities of the host are set, for messages; absent: in a Secret. */
  readonly authorities?: string | undefined;
  /** What is requested, for messages; absent: the method and the address. */
  readonly what?: string | undefined;
}

export interface Exchange {
  readonly status: number;
  readonly body: Dispatcher.ResponseData["body"];
  /** The URL of the last request, after redirects. */
  readonly url: URL;
  /** The request, for messages: `GET https://host/path`. */
  readonly request: string;
  /** Whether the server that responded was sent the credentials of the request. */
  readonly isAuthorized: boolean;
  /** Whether the request was redirected. */
  readonly isRedirected: boolean;
  /** Whether a redirect led to another scheme, host or port, where no credentials follow. */
  readonly hasLeft: boolean;
  /** The first value of a header. */
  header(name: string): string | undefined;
  /** All values of a header. */
  headerValues(name: string): readonly string[];
  /** The error for a failure while the body is read. */
  failure(thrown: unknown): AppError;
}

export type Exchanger = (request: ExchangeRequest) => Promise<Exchange>;

const maxRedirects = 5;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

export function createExchanger(deps: {
  readonly pools: ConnectionPools;
  readonly userAgent: string;
}): Exchanger {
  return async function exchange(request) {
    const limit = AbortSignal.timeout(request.timeoutMs);
    const signal = request.signal === undefined ? limit : AbortSignal.any([request.signal, limit]);
    let url = request.url;
    let hasLeft = false;

    for (let hop = 0; ; hop++) {
      const description = describe(request, url);
      const response = await send(request, url, hasLeft, signal).catch((thrown: unknown) => {
        throw failed(request, description, thrown);
      });
      const location = redirectStatuses.has(response.statusCode)
        ? first(response.headers["location"])
        : undefined;
      if (location === undefined || request.method === "POST")
        return toExchange(request, response, { url, description, isRedirected: hop > 0, hasLeft });

      await discard(response.body);
      if (hop === maxRedirects)
        throw new RepositoryError(
          request.errorKind,
          `${description}: redirected more than ${maxRedirects} times`,
        );
      url = redirected(request, url, location, description);
      hasLeft ||= url.origin !== request.url.origin;
    }
  };

  async function send(
    request: ExchangeRequest,
    url: URL,
    hasLeft: boolean,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    const pool = deps.pools.for(request.access, url, hasLeft);
    const options = {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: {
        "user-agent": deps.userAgent,
        ...request.headers,
        ...(isAuthorized(request, hasLeft) ? { authorization: request.authorization } : {}),
      },
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    } satisfies Dispatcher.RequestOptions;
    try {
      return await pool.request(options);
    } catch (thrown) {
      // A server may close an idle connection while a request is being sent on it: send it once more.
      if (request.method === "POST" || !isClosedConnection(thrown) || signal.aborted) throw thrown;
      await delay(0);
      return pool.request(options);
    }
  }
}

function describe({ method, what, ...request }: ExchangeRequest, url: URL): string {
  const address = `${method} ${describeUrl(url)}`;
  if (what === undefined) return address;
  return url === request.url ? what : `${what}: ${address}`;
}

/** The server that redirects chooses the address: only of its own it may, since it has the credentials already. */
function isAuthorized(request: ExchangeRequest, hasLeft: boolean): boolean {
  return request.authorization !== undefined && !hasLeft;
}

function redirected(
  request: ExchangeRequest,
  from: URL,
  location: string,
  description: string,
): URL {
  const to = URL.parse(location, from.href);
  if (to === null || (to.protocol !== "https:" && to.protocol !== "http:")) {
    throw new RepositoryError(
      request.errorKind,
      `${description}: redirected to an address that is not https:// or http://`,
    );
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw new RepositoryError(
      request.errorKind,
      `${description}: redirected from HTTPS to HTTP at ${describeUrl(to)}, which is not followed`,
    );
  }
  return to;
}

/** The request that was answered, after redirects. */
interface Answered {
  readonly url: URL;
  readonly description: string;
  readonly isRedirected: boolean;
  readonly hasLeft: boolean;
}

function toExchange(
  request: ExchangeRequest,
  response: Dispatcher.ResponseData,
  { url, description, isRedirected, hasLeft }: Answered,
): Exchange {
  return {
    status: response.statusCode,
    body: response.body,
    url,
    request: description,
    // The body of a POST has the credentials.
    isAuthorized: isAuthorized(request, hasLeft) || request.method === "POST",
    isRedirected,
    hasLeft,
    header: (name) => first(response.headers[name]),
    headerValues: (name) => [response.headers[name] ?? []].flat(),
    failure: (thrown) => failed(request, description, thrown),
  };
}

function failed(request: ExchangeRequest, description: string, thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof EgressDenied)
    return new RepositoryError(
      chartErrors.EGRESS_DENIED,
      `${description}: ${thrown.message}, which charts are not fetched from`,
      { cause: thrown },
    );
  if (request.signal?.aborted === true)
    return new RepositoryError(
      request.errorKind,
      `${description}: cancelled: ${messageOf(request.signal.reason)}`,
    );
  const why =
    thrown instanceof Error && thrown.name === "TimeoutError"
      ? `no complete response within ${Math.round(request.timeoutMs / 100) / 10} s`
      : describeNetworkFailure(thrown, request.authorities);
  const { proxy } = request.access;
  const route = proxy === undefined ? "" : ` through the proxy ${proxy.address}`;
  return new RepositoryError(request.errorKind, `${description}${route}: ${why}`, {
    cause: thrown,
  });
}

/** Discards a body. A short one is read to its end, so that the connection can be reused. */
export async function discard(body: Dispatcher.ResponseData["body"]): Promise<void> {
  await body.dump({ limit: 16 * 1024 }).catch(() => undefined);
}

/** Ends a body that is not read. Nobody waits for it, so its error has no other listener, and would end the process. */
export function abandon(body: Dispatcher.ResponseData["body"]): void {
  body.on("error", () => undefined).destroy();
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.[0];
}
