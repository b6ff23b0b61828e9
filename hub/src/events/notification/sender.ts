/**
 * Sends the requests of one event, over the connections of chart sources and under the same egress policy: tenants name the
 * addresses. Texts about failures name the host only: the path of an address is often a secret, and what an internal service
 * answers is not shown.
 */
import { STATUS_CODES } from "node:http";
import { messageOf } from "@flotilla/shared/errors";
import type { RepositoryAccess } from "@flotilla/shared/source";
import {
  type ConnectionPools,
  describeNetworkFailure,
  EgressDenied,
  parseRetryAfter,
} from "@flotilla/shared/source/transport";
import { type Clock, delay } from "@flotilla/shared/time";
import type { FluxEvent } from "./event.ts";
import type { ReadyProvider } from "./provider-settings.ts";
import { builderOf, type OutgoingRequest } from "./provider-types.ts";

export type SendResult =
  | { readonly kind: "delivered" }
  /** The type has nothing to say about such an event. */
  | { readonly kind: "skipped" }
  /** It may succeed later. */
  | { readonly kind: "failed"; readonly why: string; readonly retryAfterMs?: number | undefined }
  /** The provider will not take this event. */
  | { readonly kind: "rejected"; readonly why: string };

export type SendEvent = (
  event: FluxEvent,
  type: string,
  provider: ReadyProvider,
  signal: AbortSignal,
) => Promise<SendResult>;

export interface SenderDeps {
  readonly pools: Pick<ConnectionPools, "for">;
  readonly userAgent: string;
  readonly clock: Clock;
}

/** As Flux waits between attempts. */
const retries = { firstMs: 2_000, longestMs: 30_000, count: 4 };

const maxBodyBytes = 1024 * 1024;

type Answer =
  | { readonly kind: "answered"; readonly body: string }
  | Extract<SendResult, { kind: "failed" | "rejected" }>;

interface Sending {
  readonly access: RepositoryAccess;
  /** When the time for all requests is over, by the monotonic clock. */
  readonly endsAt: number;
  readonly timeoutMs: number;
  readonly isOfCommit: boolean;
  readonly signal: AbortSignal;
}

export function createSender({ pools, userAgent, clock }: SenderDeps): SendEvent {
  /** Retries within the time of the provider, as Flux does. */
  async function sendRequest(request: OutgoingRequest, sending: Sending): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await sendOnce(request, sending);
      if (answer.kind !== "failed" || sending.signal.aborted) return answer;
      const waitMs = Math.min(retries.longestMs, retries.firstMs * 2 ** (attempt - 1));
      const isLast = attempt > retries.count || answer.retryAfterMs !== undefined;
      if (isLast || clock.monotonic() + waitMs >= sending.endsAt) return answer;
      await delay(clock, waitMs, sending.signal);
    }
  }

  async function sendOnce(request: OutgoingRequest, sending: Sending): Promise<Answer> {
    const { url, method, headers, body } = request;
    const { access, signal, timeoutMs } = sending;
    // AbortSignal takes whole milliseconds only.
    const leftMs = Math.max(1, Math.ceil(sending.endsAt - clock.monotonic()));
    const until = AbortSignal.any([signal, AbortSignal.timeout(leftMs)]);
    const failed = (why: string) => ({ kind: "failed", why: `${url.host}: ${why}` }) as const;
    try {
      const response = await pools.for(access, url, false).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers: { "user-agent": userAgent, ...headers },
        signal: until,
        ...(body !== undefined && { body }),
      });
      const text = await readText(response.body);
      const { statusCode } = response;
      if (statusCode >= 200 && statusCode < 300) {
        const problem = request.problem?.(text);
        return problem === undefined
          ? { kind: "answered", body: text }
          : { kind: "rejected", why: problem };
      }
      const why = `error code: ${statusCode} ${STATUS_CODES[statusCode] ?? ""}`.trimEnd();
      if (!isRetried(statusCode, sending)) return { kind: "rejected", why: `${url.host}: ${why}` };
      const retryAfter = response.headers["retry-after"];
      const asked = typeof retryAfter === "string" ? retryAfter : undefined;
      return { ...failed(why), retryAfterMs: parseRetryAfter(asked, clock.now()) };
    } catch (thrown) {
      if (thrown instanceof EgressDenied)
        return failed(`${thrown.message}, to which notifications are not sent`);
      if (until.aborted)
        return failed(
          signal.aborted
            ? `cancelled: ${messageOf(signal.reason)}`
            : `no complete response within ${timeoutMs / 1_000} s`,
        );
      return failed(describeNetworkFailure(thrown));
    }
  }

  return async function send(event, type, { settings, access, timeoutMs }, signal) {
    const delivery = builderOf(type)?.(event, settings);
    if (delivery === undefined || delivery.kind === "skipped") return { kind: "skipped" };
    if (delivery.kind === "impossible") return { kind: "rejected", why: delivery.why };
    const endsAt = clock.monotonic() + timeoutMs;
    const isOfCommit = delivery.before !== undefined;
    const sending = { access, endsAt, timeoutMs, isOfCommit, signal };
    if (delivery.before !== undefined) {
      const answer = await sendRequest(delivery.before.request, sending);
      if (answer.kind !== "answered") return answer;
      if (delivery.before.isSaid(answer.body)) return { kind: "delivered" };
    }
    for (const request of delivery.requests) {
      const answer = await sendRequest(request, sending);
      if (answer.kind !== "answered") return answer;
    }
    return { kind: "delivered" };
  };
}

/** Also what a corrected Provider may change. A Git host answers 404 for a commit that it has not: other events may succeed. */
function isRetried(status: number, { isOfCommit }: Sending): boolean {
  return (
    [401, 403, 407, 408, 425, 429].includes(status) ||
    (status === 404 && !isOfCommit) ||
    (status >= 300 && status < 400) ||
    (status >= 500 && status !== 501)
  );
}

/** For a longer body only its start. */
async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBodyBytes) break;
  }
  return Buffer.concat(chunks).toString();
}
