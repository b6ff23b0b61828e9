/** One request over a pool of connections: its timeout, its signal, and the errors of its connection. */
import type { Dispatcher } from "undici";
import { AppError, commonErrors, messageOf } from "../../runtime/errors/index.ts";
import type { Clock, Timer } from "../../runtime/time/index.ts";
import { kubeErrors } from "./errors.ts";

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  /** For messages: `get configmaps default/settings`. */
  readonly what: string;
  readonly signal?: AbortSignal;
  /** From now until the response is complete; without it `responseTimeoutMs` applies. */
  readonly timeoutMs?: number;
  /** The limit of a response with an end. */
  readonly maxBytes?: number;
}

/** Takes a response as it arrives. */
export interface StreamSink {
  onStatus(status: number, retryAfter: string | undefined): void;
  onData(chunk: Buffer): void;
  /** The last call: without an error when the response is complete. */
  onEnd(error?: AppError): void;
}

export interface StreamControl {
  pause(): void;
  resume(): void;
  abort(reason: AppError): void;
}

export interface DispatchOptions {
  readonly pool: Dispatcher;
  readonly origin: string;
  /** The server's URL, for messages. */
  readonly server: string;
  readonly clock: Clock;
  /** From when the request is sent until its response is complete. */
  readonly responseTimeoutMs?: number;
}

/** The codes of undici for a server that has taken a request and sends nothing. */
const timeoutCodes = new Set<unknown>(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

export function dispatch(
  options: DispatchOptions,
  request: Request,
  sink: StreamSink,
): StreamControl {
  const { pool, origin, server, clock, responseTimeoutMs } = options;
  const { signal, what } = request;
  let controller: Dispatcher.DispatchController | undefined;
  let timer: Timer | undefined;
  let ended = false;

  function finish(error?: AppError): void {
    if (ended) return;
    ended = true;
    timer?.cancel();
    signal?.removeEventListener("abort", onAbort);
    sink.onEnd(error);
  }

  /** Ends the sink first: a request that still waits for a connection cannot be aborted yet. */
  function abort(reason: AppError): void {
    finish(reason);
    controller?.abort(reason);
  }

  function onAbort(): void {
    abort(
      new AppError(commonErrors.CANCELLED, `${what} on ${server}: cancelled`, {
        cause: signal?.reason,
      }),
    );
  }

  function expireAfter(limitMs: number | undefined): void {
    if (timer !== undefined || limitMs === undefined) return;
    // After a process was frozen, timers run before it reads: the response may have arrived long ago.
    timer = clock.setTimeout(() => setImmediate(expire, limitMs), limitMs);
  }

  function expire(limitMs: number): void {
    if (ended) return;
    const message = `${what} on ${server}: no response within ${Math.round(limitMs / 100) / 10} s`;
    abort(new AppError(kubeErrors.KUBE_UNREACHABLE, message));
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (ended)
        started.abort(new AppError(commonErrors.CANCELLED, `${what} on ${server}: cancelled`));
      else expireAfter(responseTimeoutMs);
    },
    onResponseStart(_controller, status, headers) {
      const retryAfter = headers["retry-after"];
      if (!ended) sink.onStatus(status, typeof retryAfter === "string" ? retryAfter : undefined);
    },
    onResponseData(_controller, chunk) {
      if (!ended) sink.onData(chunk);
    },
    onResponseEnd: () => finish(),
    onResponseError: (_controller, error) => finish(unreachable(what, server, error)),
  };

  if (signal?.aborted === true) {
    onAbort();
  } else {
    signal?.addEventListener("abort", onAbort, { once: true });
    expireAfter(request.timeoutMs);
    const { method, path, headers, body = null } = request;
    pool.dispatch({ origin, method, path, headers, body }, handler);
  }
  return {
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
    abort,
  };
}

/** Whether the connection could not be opened, or was cut: the server is unreachable, not only slow. */
export function isConnectionFailure({ code, cause }: AppError): boolean {
  if (code !== kubeErrors.KUBE_UNREACHABLE.code || !(cause instanceof Error)) return false;
  return !("code" in cause && timeoutCodes.has(cause.code));
}

function unreachable(what: string, server: string, error: Error): AppError {
  if (error instanceof AppError) return error;
  return new AppError(kubeErrors.KUBE_UNREACHABLE, `${what} on ${server}: ${messageOf(error)}`, {
    cause: error,
  });
}
