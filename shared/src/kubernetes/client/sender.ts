/**
 * Sends requests to one API server with the credentials of the kubeconfig, and retries where that is safe: a rejected token
 * that may have been rotated, a server that asks to slow down, a read on an idle connection that the server closed.
 */

import { AppError } from "../../runtime/errors/index.ts";
import { type Clock, delay } from "../../runtime/time/index.ts";
import { type CredentialSource, createCredentialSource, type Identity } from "./credentials.ts";
import type { Request, StreamControl, StreamSink } from "./dispatch.ts";
import { kubeErrors } from "./errors.ts";
import type { ClientCertificate, Impersonation, KubeConfig } from "./kubeconfig.ts";
import { createResponseNotifier, type ResponseNotifier } from "./next-response.ts";
import { type Origin, responseError } from "./response.ts";
import type { CallOptions } from "./rest.ts";
import { createTransport, type HttpResponse, type Transport } from "./transport.ts";

/** One request, without credentials. */
export interface Call {
  /** For messages: `get configmaps default/settings`. */
  readonly what: string;
  readonly method: Request["method"];
  /** With the query. */
  readonly path: string;
  /** The client adds its own headers and its credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly body?: string;
  /** Whether it may be sent twice. */
  readonly idempotent: boolean;
  readonly options: CallOptions;
}

export interface Sender {
  /** The final response, be it a success or not. */
  send(call: Call): Promise<HttpResponse>;
  /** Opens a response without an end. */
  stream(call: Call, sink: StreamSink): Promise<StreamControl>;
  /** See KubeRest. */
  nextResponse(signal: AbortSignal): Promise<void>;
  /** A sender over the same connections that impersonates a user. */
  as(user: Impersonation): Sender;
  close(): Promise<void>;
}

export interface SenderOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly connections: number;
}

const maxAttempts = 3;
/** A longer Retry-After is left to the caller. */
const longestRetryAfterMs = 5_000;

export function createSender(options: SenderOptions): Sender {
  const { config, clock } = options;
  const basePath = new URL(config.server).pathname.replace(/\/+$/, "");
  const credentials = createCredentialSource(config, clock);
  const transports = rotateTransports(options);
  const responses = createResponseNotifier(clock);
  return senderAs(config.impersonate);

  function senderAs(user: Impersonation | undefined): Sender {
    const headers = {
      accept: "application/json",
      "user-agent": options.userAgent,
      ...impersonationHeaders(user),
    };
    const as = senderAs;
    return createSenderOver({ basePath, credentials, transports, responses, clock, headers, as });
  }
}

/** What all senders to one API server share, and the headers of one of them. */
interface SenderParts {
  readonly basePath: string;
  readonly credentials: CredentialSource;
  readonly transports: RotatingTransport;
  readonly responses: ResponseNotifier;
  readonly clock: Clock;
  readonly headers: Request["headers"];
  readonly as: (user: Impersonation) => Sender;
}

function createSenderOver(parts: SenderParts): Sender {
  const { basePath, credentials, transports, responses, clock } = parts;

  function requestOf(call: Call, identity: Identity, timeoutMs: number | undefined): Request {
    const { signal, maxBytes } = call.options;
    return {
      what: call.what,
      method: call.method,
      path: basePath + call.path,
      headers: {
        ...parts.headers,
        ...call.headers,
        ...identity.headers,
        ...(call.contentType === undefined ? {} : { "content-type": call.contentType }),
      },
      ...(call.body === undefined ? {} : { body: call.body }),
      ...(signal === undefined ? {} : { signal }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
    };
  }

  async function send(call: Call): Promise<HttpResponse> {
    const { timeoutMs, signal } = call.options;
    const deadline = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
    const leftMs = (): number | undefined =>
      deadline === undefined ? undefined : Math.max(1, deadline - clock.monotonic());

    for (let attempt = 1; ; attempt++) {
      const identity = await credentials.current();
      const request = requestOf(call, identity, leftMs());
      const response = await exchange(transports.for(identity), request, attempt);
      if (response === undefined) continue;
      if (isServing(response.status)) responses.notify();
      if (response.status === 401 && attempt === 1 && credentials.rejected(identity)) continue;
      if (response.status !== 429 || !call.idempotent || attempt === maxAttempts) return response;
      const waitMs = Number(response.retryAfter ?? Number.NaN) * 1000;
      if (!(waitMs <= Math.min(longestRetryAfterMs, leftMs() ?? Number.POSITIVE_INFINITY)))
        return response;
      await delay(clock, waitMs, signal);
    }
  }

  return {
    send,
    async stream(call, sink) {
      const identity = await credentials.current();
      const onStatus = (status: number, retryAfter: string | undefined): void => {
        if (status === 401) credentials.rejected(identity);
        if (isServing(status)) responses.notify();
        sink.onStatus(status, retryAfter);
      };
      return transports
        .for(identity)
        .stream(requestOf(call, identity, call.options.timeoutMs), { ...sink, onStatus });
    },
    nextResponse: (signal) => responses.wait(signal),
    as: parts.as,
    close: () => transports.close(),
  };
}

/** Sends a request whose response has to be a success: throws the error of any other. */
export async function sendSuccessfully(
  sender: Sender,
  origin: Origin,
  call: Call,
  secret = false,
): Promise<HttpResponse> {
  const response = await sender.send(call);
  if (response.status >= 200 && response.status < 300) return response;
  throw responseError({ what: call.what, ...origin, secret }, response);
}

/** Whether a server that responds so can take requests. */
function isServing(status: number): boolean {
  return status < 500 && status !== 429;
}

/** `undefined`: send it again, because an idle connection may be closed at any moment. */
async function exchange(
  transport: Transport,
  request: Request,
  attempt: number,
): Promise<HttpResponse | undefined> {
  try {
    return await transport.exchange(request);
  } catch (error) {
    if (attempt === 1 && request.method === "GET" && wasCut(error)) return undefined;
    throw error;
  }
}

function wasCut(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== kubeErrors.KUBE_UNREACHABLE.code) return false;
  const { cause } = error;
  return (
    cause instanceof Error &&
    "code" in cause &&
    (cause.code === "UND_ERR_SOCKET" || cause.code === "ECONNRESET")
  );
}

interface RotatingTransport {
  for(identity: Identity): Transport;
  close(): Promise<void>;
}

/** Opens new connections when the client certificate changes; the old ones end with their requests. */
function rotateTransports(options: SenderOptions): RotatingTransport {
  const { config, connections, clock } = options;
  let current:
    | { readonly certificate: ClientCertificate | undefined; readonly transport: Transport }
    | undefined;
  const retired = new Set<Transport>();

  async function retire(transport: Transport): Promise<void> {
    retired.add(transport);
    // `close` may be emitted first.
    await transport.finish().catch(() => undefined);
    retired.delete(transport);
  }

  return {
    for({ certificate }) {
      if (current === undefined || current.certificate !== certificate) {
        if (current !== undefined) void retire(current.transport);
        current = {
          certificate,
          transport: createTransport({ config, certificate, connections, clock }),
        };
      }
      return current.transport;
    },
    async close() {
      const open = current === undefined ? [...retired] : [...retired, current.transport];
      await Promise.all(open.map((transport) => transport.close()));
    },
  };
}

function impersonationHeaders(
  user: Impersonation | undefined,
): Readonly<Record<string, string | string[]>> {
  if (user === undefined) return {};
  return {
    "impersonate-user": asUtf8(user.user),
    ...(user.uid === undefined ? {} : { "impersonate-uid": user.uid }),
    ...(user.groups.length === 0 ? {} : { "impersonate-group": user.groups.map(asUtf8) }),
  };
}

/** API servers read names as UTF-8, but a header is sent as one byte for each character. */
function asUtf8(name: string): string {
  return Buffer.from(name, "utf8").toString("latin1");
}
