/**
 * How the hub answers: a request that it rejects with a `Status`, as an API server does, so that clients of Kubernetes read the
 * error; any other with lines of JSON. `{"data": "..."}` is a part of the answer, and the last line is `{"end": {}}`, or
 * `{"end": {"code": "...", "message": "..."}}` if the answer is not complete.
 */

import type { AnswerEnd } from "@flotilla/proto";
import type { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import { hubErrors } from "../../base/index.ts";

const statuses: Readonly<Record<string, number>> = {
  [hubErrors.REQUEST_INVALID.code]: 400,
  [hubErrors.REQUEST_UNAUTHENTICATED.code]: 401,
  [hubErrors.REQUEST_FORBIDDEN.code]: 403,
  [hubErrors.REQUEST_TARGET_NOT_FOUND.code]: 404,
  [hubErrors.REQUEST_NEEDS_CLUSTER.code]: 409,
  // What is wrong with a change that is to be planned.
  [hubErrors.HELMOP_INVALID.code]: 422,
  [hubErrors.BUNDLE_NOT_DEPLOYABLE.code]: 422,
  [hubErrors.POLICY_VIOLATION.code]: 422,
  [chartErrors.CHART_NOT_FOUND.code]: 422,
  [chartErrors.CHART_VERSION_NOT_FOUND.code]: 422,
  [hubErrors.REQUEST_LIMITED.code]: 429,
  [hubErrors.AGENT_OUTDATED.code]: 501,
};

export const answerType = "application/x-ndjson";

export interface RejectedRequest {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** Errors that are not of a request, such as an unavailable API server, get 503. */
export function rejection({ code: reason, message }: AppError): RejectedRequest {
  const status = statuses[reason] ?? 503;
  const body = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    code: status,
  };
  return { status, body: `${JSON.stringify(body)}\n` };
}

/** Lines for the parts of one answer. */
export function createAnswerLines() {
  // A character may be in two chunks.
  const decoder = new TextDecoder();
  return {
    data: (bytes: Uint8Array) => dataLine(decoder.decode(bytes, { stream: true })),
    end: ({ failure }: AnswerEnd) =>
      `${dataLine(decoder.decode())}${JSON.stringify({ end: failure ?? {} })}\n`,
  };
}

function dataLine(data: string): string {
  return data === "" ? "" : `${JSON.stringify({ data })}\n`;
}
