/**
 * Sends requests to one API server as whoever the kubeconfig says, and tries again where that is safe: a refused
 * token that may have been replaced, a server that asks to slow down, an idle connection that was closed under a read.
 */

import { AppError } from "../../errors/app-error.ts";
import type { Clock } from "../../time/clock.ts";
import { delay } from "../../time/clock.ts";
import { type CredentialSource, createCredentialSource, type Identity } from "./credentials.ts";
import type { Request, StreamControl, StreamSink } from "./dispatch.ts";
import { kubeErrors } from "./errors.ts";
import type { ClientCertificate, Impersonation, KubeConfig } from "./kubeconfig.ts";
import { createResponseNotifier, type ResponseNotifier } from "./next-response.ts";
import type { CallOptions } from "./rest.ts";
import { createTransport, type HttpResponse, type Transport } from "./transport.ts";

/** One request, without who sends it. */
export interface Call {
  /** For messages: `get configmaps default/settings`. */
  readonly what: string;
  readonly method: Request["method"];
  /** With query. */
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Whether doing it twice is the same as doing it once. */
  readonly idempotent: boolean;
  readonly options: CallOptions;
}

export interface Sender {
  /** The answer that stands; whether it is a success is the caller's to see. */
  send(call: Call): Promise<HttpResponse>;
  /** Opens an answer without end. */
  stream(call: Call, sink: StreamSink): Promise<StreamControl>;
  /** See KubeRest. */
  nextAnswer(signal: AbortSignal): Promise<void>;
  /** The same, over the same connections, as somebody else. */
  as(who: Impersonation): Sender;
  close(): Promise<void>;
}

export interface SenderOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly connections: number;
}

const maxAttempts = 3;
/** A server that asks for more is not waited for here. */
const longestRetryAfterMs = 5_000;

export function createSender(options: SenderOptions): Sender {
  const { config, clock } = options;
  const basePath = new URL(config.server).pathname.replace(/\/+$/, "");
  const credentials = createCredentialSource(config, clock);
  const transports = rotateTransports(options);
  const answers = createResponseNotifier(clock);
  return senderAs(config.impersonate);

  function senderAs(who: Impersonation | undefined): Sender {
    const headers = {
      accept: "application/json",
      "user-agent": options.userAgent,
      ...impersonationHeaders(who),
    };
    const as = senderAs;
    return createSenderOver({ basePath, credentials, transports, answers, clock, headers, as });
  }
}

/** What all senders to one API server share, and what one of them sends besides. */
interface SenderParts {
  readonly basePath: string;
  readonly credentials: CredentialSource;
  readonly transports: RotatingTransport;
  readonly answers: ResponseNotifier;
  readonly clock: Clock;
  readonly headers: Request["headers"];
  readonly as: (who: Impersonation) => Sender;
}

function createSenderOver(parts: SenderParts): Sender {
  const { basePath, credentials, transports, answers, clock } = parts;

  function requestOf(call: Call, identity: Identity, timeoutMs: number | undefined): Request {
    const { signal } = call.options;
    return {
      what: call.what,
      method: call.method,
      path: basePath + call.path,
      headers: {
        ...parts.headers,
        ...identity.headers,
        ...(call.contentType === undefined ? {} : { "content-type": call.contentType }),
      },
      ...(call.body === undefined ? {} : { body: call.body }),
      ...(signal === undefined ? {} : { signal }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    };
  }

  async function send(call: Call): Promise<HttpResponse> {
    const { timeoutMs, signal } = call.options;
    const giveUpAt = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
    const leftMs = (): number | undefined =>
      giveUpAt === undefined ? undefined : Math.max(1, giveUpAt - clock.monotonic());

    for (let attempt = 1; ; attempt++) {
      const identity = await credentials.current();
      const request = requestOf(call, identity, leftMs());
      const answer = await exchange(transports.for(identity), request, attempt);
      if (answer === undefined) continue;
      if (isWell(answer.status)) answers.notify();
      if (answer.status === 401 && attempt === 1 && credentials.rejected(identity)) continue;
      if (answer.status !== 429 || !call.idempotent || attempt === maxAttempts) return answer;
      const waitMs = Number(answer.retryAfter ?? Number.NaN) * 1000;
      if (!(waitMs <= Math.min(longestRetryAfterMs, leftMs() ?? Number.POSITIVE_INFINITY)))
        return answer;
      await delay(clock, waitMs, signal);
    }
  }

  return {
    send,
    async stream(call, sink) {
      const identity = await credentials.current();
      const onStatus = (status: number, retryAfter: string | undefined): void => {
        if (status === 401) credentials.rejected(identity);
        if (isWell(status)) answers.notify();
        sink.onStatus(status, retryAfter);
      };
      return transports
        .for(identity)
        .stream(requestOf(call, identity, call.options.timeoutMs), { ...sink, onStatus });
    },
    nextAnswer: (signal) => answers.wait(signal),
    as: parts.as,
    close: () => transports.close(),
  };
}

/** Whether a server that answers so can take requests. */
function isWell(status: number): boolean {
  return status < 500 && status !== 429;
}

/** `undefined` when the request is to be made again: an idle connection may be closed at any moment. */
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

/** Opens new connections when the client certificate changes; those made with the old one end with their requests. */
function rotateTransports(options: SenderOptions): RotatingTransport {
  const { config, connections, clock } = options;
  let current:
    | { readonly certificate: ClientCertificate | undefined; readonly transport: Transport }
    | undefined;
  const retired = new Set<Transport>();

  async function retire(transport: Transport): Promise<void> {
    retired.add(transport);
    // It may be closed before it is finished.
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
  who: Impersonation | undefined,
): Readonly<Record<string, string | string[]>> {
  if (who === undefined) return {};
  return {
    "impersonate-user": who.user,
    ...(who.uid === undefined ? {} : { "impersonate-uid": who.uid }),
    ...(who.groups.length === 0 ? {} : { "impersonate-group": [...who.groups] }),
  };
}
