/**
 * One HTTP exchange with a repository: redirects followed without taking credentials to another host, a time limit on
 * the whole, and every failure as a sentence that says what was asked of whom and what came back.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { AppError, type ErrorKind, messageOf } from "../../errors/app-error.ts";
import type { RepositoryAccess } from "../access.ts";
import { describeUrl, isSameParty } from "../address.ts";
import type { ConnectionPools } from "./connection-pools.ts";
import { RepositoryError } from "../errors.ts";
import { describeNetworkFailure, isClosedConnection } from "./network-error.ts";

export interface ExchangeRequest {
  readonly method: "GET" | "HEAD" | "POST";
  readonly url: URL;
  readonly access: RepositoryAccess;
  /** Sent to `url` and to nobody that it redirects to. */
  readonly authorization?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** On everything, the body included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What a failure is called. */
  readonly failure: ErrorKind;
}

export interface Exchange {
  readonly status: number;
  readonly body: Dispatcher.ResponseData["body"];
  /** Where the answer came from in the end. */
  readonly url: URL;
  /** What was asked, for messages: `GET https://host/path`. */
  readonly asked: string;
  /** Whether who answered was shown what the request has to show. */
  readonly isAuthorized: boolean;
  /** The first value of a header. */
  header(name: string): string | undefined;
  /** All values of a header. */
  headerValues(name: string): readonly string[];
  /** A failure while the body is read, as a sentence. */
  broken(thrown: unknown): AppError;
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

    for (let hop = 0; ; hop++) {
      const asked = `${request.method} ${describeUrl(url)}`;
      const answer = await send(request, url, signal).catch((thrown: unknown) => {
        throw failed(request, asked, thrown);
      });
      const location = redirectStatuses.has(answer.statusCode)
        ? first(answer.headers["location"])
        : undefined;
      if (location === undefined || request.method === "POST")
        return toExchange(request, answer, url, asked);

      await discard(answer.body);
      if (hop === maxRedirects)
        throw new RepositoryError(
          request.failure,
          `${asked}: redirected more than ${maxRedirects} times`,
        );
      url = redirected(request, url, location, asked);
    }
  };

  async function send(
    request: ExchangeRequest,
    url: URL,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    const pool = deps.pools.for(request.access, url);
    const options = {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: {
        "user-agent": deps.userAgent,
        ...request.headers,
        ...(mayBeTold(request, url) ? { authorization: request.authorization } : {}),
      },
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    } satisfies Dispatcher.RequestOptions;
    try {
      return await pool.request(options);
    } catch (thrown) {
      // A server may close an idle connection in the moment in which it is used again; that says nothing about it.
      if (request.method === "POST" || !isClosedConnection(thrown) || signal.aborted) throw thrown;
      await delay(0);
      return pool.request(options);
    }
  }
}

function mayBeTold(request: ExchangeRequest, url: URL): boolean {
  return request.authorization !== undefined && isSameParty(request.url, url);
}

function redirected(request: ExchangeRequest, from: URL, location: string, asked: string): URL {
  const to = URL.parse(location, from.href);
  if (to === null || (to.protocol !== "https:" && to.protocol !== "http:")) {
    throw new RepositoryError(
      request.failure,
      `${asked}: redirected to an address that is neither https:// nor http://`,
    );
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw new RepositoryError(
      request.failure,
      `${asked}: redirected from TLS to plain HTTP at ${describeUrl(to)}, which is refused`,
    );
  }
  return to;
}

function toExchange(
  request: ExchangeRequest,
  answer: Dispatcher.ResponseData,
  url: URL,
  asked: string,
): Exchange {
  return {
    status: answer.statusCode,
    body: answer.body,
    url,
    asked,
    // What is posted has the credentials in it.
    isAuthorized: mayBeTold(request, url) || request.method === "POST",
    header: (name) => first(answer.headers[name]),
    headerValues: (name) => [answer.headers[name] ?? []].flat(),
    broken: (thrown) => failed(request, asked, thrown),
  };
}

function failed(request: ExchangeRequest, asked: string, thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (request.signal?.aborted === true)
    return new RepositoryError(
      request.failure,
      `${asked}: given up, ${messageOf(request.signal.reason)}`,
    );
  const why =
    thrown instanceof Error && thrown.name === "TimeoutError"
      ? `no complete answer within ${Math.round(request.timeoutMs / 100) / 10} s`
      : describeNetworkFailure(thrown);
  return new RepositoryError(request.failure, `${asked}: ${why}`, { cause: thrown });
}

/** Lets a body go. A short one is read to its end, so that the connection can be used again. */
export async function discard(body: Dispatcher.ResponseData["body"]): Promise<void> {
  await body.dump({ limit: 16 * 1024 }).catch(() => undefined);
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.[0];
}
