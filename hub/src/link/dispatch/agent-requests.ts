/**
 * Requests of users to one connected agent. Nothing of an answer is kept: each chunk goes to its sink. An agent that sends more
 * than the contract allows gets a cancellation, and the request ends with an error.
 */

import {
  type AgentRequest,
  type AnswerChunk,
  type AnswerEnd,
  type HubMessage,
  type MakeMessage,
  requestsVersion,
  wireLimits,
} from "@flotilla/proto";
import { hubErrors } from "../../base/index.ts";

/** Where an answer goes. Nothing is called after `end`, nor after a cancellation. */
export interface AnswerSink {
  data(bytes: Uint8Array): void;
  end(end: AnswerEnd): void;
}

export type OpenedRequest =
  /** `cancel` may be called at any time, also after the end. */
  | { readonly kind: "open"; readonly cancel: () => void }
  /** `outdated`: the agent has an older version of the protocol. `busy`: it has as many requests as it answers at a time. */
  | { readonly kind: "offline" | "outdated" | "busy" };

export type NewRequest = Pick<AgentRequest, "deployment" | "body">;

export interface AgentRequestsOptions {
  /** The negotiated version of the stream. */
  readonly version: number;
  readonly put: (key: string, make: MakeMessage<HubMessage>) => void;
}

/** To one agent at a time, as many as it answers. */
const maxRequests = 4;

interface Open {
  readonly sink: AnswerSink;
  bytes: number;
}

export type AgentRequests = ReturnType<typeof createAgentRequests>;

export function createAgentRequests({ version, put }: AgentRequestsOptions) {
  const requests = new Map<string, Open>();
  let lastId = 0;

  /** A request that is not sent yet is not sent any more; for the agent its cancellation is one of an unknown request. */
  function cancel(id: string): void {
    if (requests.delete(id)) put(`cancel/${id}`, () => ({ kind: "requestCancellation", id }));
  }

  return {
    open({ deployment, body }: NewRequest, sink: AnswerSink): OpenedRequest {
      if (version < requestsVersion) return { kind: "outdated" };
      if (requests.size >= maxRequests) return { kind: "busy" };
      lastId += 1;
      const id = String(lastId);
      requests.set(id, { sink, bytes: 0 });
      put(`request/${id}`, () =>
        requests.has(id) ? { kind: "request", id, deployment, body } : undefined,
      );
      return { kind: "open", cancel: () => cancel(id) };
    },
    received({ id, data, end }: AnswerChunk): void {
      const request = requests.get(id);
      // Sent before the cancellation arrived.
      if (request === undefined) return;
      request.bytes += data.length;
      if (request.bytes > wireLimits.answerBytes) {
        cancel(id);
        request.sink.end({ failure: tooLong });
        return;
      }
      if (data.length > 0) request.sink.data(data);
      if (end === undefined) return;
      requests.delete(id);
      request.sink.end(end);
    },
    /** The stream has ended. */
    close(): void {
      const ended = [...requests.values()];
      requests.clear();
      for (const { sink } of ended) sink.end({ failure: disconnected });
    },
  };
}

const tooLong = {
  code: hubErrors.REQUEST_INTERRUPTED.code,
  message: `the agent's answer is longer than ${wireLimits.answerBytes / 1024 / 1024} MiB; it was cancelled`,
};
const disconnected = {
  code: hubErrors.REQUEST_INTERRUPTED.code,
  message: "the connection of the agent ended before the answer did; retry",
};
