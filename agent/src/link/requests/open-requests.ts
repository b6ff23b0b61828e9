/**
 * The requests of the hub on one stream: each answered in chunks, a limited number at a time, for a limited time. A chunk is
 * made when the stream takes the one before, and only when no state waits.
 */

import {
  type AgentMessage,
  type AgentRequest,
  type AnswerEnd,
  type SendQueue,
  wireLimits,
} from "@flotilla/proto";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { cutText } from "@flotilla/shared/text";
import type { Clock } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";

/** Where an answer goes. */
export interface AnswerSink {
  /** Resolves when the stream has taken all of it. Rejects when the request has ended. */
  write(text: string): Promise<void>;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Writes the answer to a request. Throws an AppError, whose message the user gets. */
export type AnswerRequest = (
  request: Pick<AgentRequest, "deployment" | "body">,
  sink: AnswerSink,
) => Promise<void>;

/** For an agent that reads no cluster. */
export const rejectRequest: AnswerRequest = () =>
  Promise.reject(new AppError(agentErrors.REQUEST_FAILED, "this agent answers no requests"));

export interface OpenRequests {
  start(request: AgentRequest): void;
  cancel(id: string): void;
  /** The stream has ended. */
  close(): void;
}

export interface OpenRequestsDeps {
  readonly answer: AnswerRequest;
  readonly outgoing: Pick<SendQueue<AgentMessage>, "putBulk">;
  readonly clock: Clock;
  readonly log: Log;
}

/** At a time on one stream. */
export const maxRequests = 4;
/** For a whole answer. */
export const requestTimeoutMs = 30_000;
/** For that to a plan, for which Helm renders the chart, and which waits for deployments. */
export const planTimeoutMs = 60_000;

const truncated = `\n[the answer is longer than ${wireLimits.answerBytes / 1024 / 1024} MiB; the rest is left out]\n`;

export function createOpenRequests({
  answer,
  outgoing,
  clock,
  log,
}: OpenRequestsDeps): OpenRequests {
  const open = new Map<string, AbortController>();

  /** Resolves when the stream takes the chunk; rejects when `signal` aborts. */
  function send(id: string, data: Uint8Array, end: AnswerEnd | undefined, signal: AbortSignal) {
    return new Promise<void>((resolve, reject) => {
      const abort = () => reject(AppError.from(signal.reason));
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      outgoing.putBulk(`answer/${id}`, () => {
        signal.removeEventListener("abort", abort);
        if (signal.aborted) return undefined;
        resolve();
        return { kind: "answerChunk", id, data, ...(end !== undefined && { end }) };
      });
    });
  }

  /** Never rejects. */
  async function run(request: AgentRequest, ended: AbortController): Promise<void> {
    const { id, deployment, body } = request;
    const finishing = new AbortController();
    // Not the answer to a request that nobody waits for any more.
    ended.signal.addEventListener("abort", () => finishing.abort(), { once: true });
    const late = new AbortController();
    const timeoutMs = body.kind === "plan" ? planTimeoutMs : requestTimeoutMs;
    const timer = clock.setTimeout(() => late.abort(tooLate(timeoutMs)), timeoutMs);
    const signal = AbortSignal.any([ended.signal, late.signal]);
    let end: AnswerEnd = {};
    try {
      await answer({ deployment, body }, { write: limitedWriter(id, signal), signal });
    } catch (thrown) {
      const cause = late.signal.aborted ? late.signal.reason : thrown;
      if (!(thrown instanceof TruncatedError)) end = { failure: failureOf(cause) };
    } finally {
      timer.cancel();
    }
    if (ended.signal.aborted) return;
    const { failure } = end;
    log.debug({ deployment: deployment.name, request: body.kind, ...failure }, "request answered");
    await send(id, new Uint8Array(), end, finishing.signal).catch(() => undefined);
    if (open.get(id) === ended) open.delete(id);
  }

  function limitedWriter(id: string, signal: AbortSignal): AnswerSink["write"] {
    let left: number = wireLimits.answerBytes - Buffer.byteLength(truncated);
    return async function write(text) {
      const bytes = Buffer.from(text);
      const allowed = bytes.subarray(0, left);
      for (let from = 0; from < allowed.length; from += wireLimits.chunkBytes)
        await send(id, allowed.subarray(from, from + wireLimits.chunkBytes), undefined, signal);
      left -= allowed.length;
      if (allowed.length === bytes.length) return;
      await send(id, Buffer.from(truncated), undefined, signal);
      throw new TruncatedError();
    };
  }

  return {
    start(request) {
      const { id } = request;
      const ended = new AbortController();
      if (open.size >= maxRequests) {
        void send(id, new Uint8Array(), { failure: failureOf(tooMany()) }, ended.signal);
        return;
      }
      open.set(id, ended);
      void run(request, ended);
    },
    cancel(id) {
      open.get(id)?.abort(cancelled());
      open.delete(id);
    },
    close() {
      for (const ended of open.values()) ended.abort(cancelled());
      open.clear();
    },
  };
}

/** The answer has reached its limit, and says so. */
class TruncatedError extends Error {
  override readonly name = "TruncatedError";
}

function failureOf(thrown: unknown): { readonly code: string; readonly message: string } {
  const { code } = AppError.from(thrown);
  const message = messageOf(thrown);
  return { code, message: cutText(message, wireLimits.messageChars) };
}

function tooLate(timeoutMs: number): AppError {
  const message = `the agent has no complete answer after ${timeoutMs / 1_000} s`;
  return new AppError(agentErrors.REQUEST_FAILED, message);
}

function tooMany(): AppError {
  const message = `the agent answers ${maxRequests} other requests; retry when one of them has ended`;
  return new AppError(agentErrors.REQUEST_FAILED, message);
}

function cancelled(): AppError {
  return new AppError(agentErrors.REQUEST_FAILED, "the request was cancelled");
}
