/**
 * The response to a request that failed: an HTTP status and a code that the page decides by. An error that is not listed is the hub's
 * own failure: its message may have internals, so the client gets a general one and the caller logs it. Pure.
 */
import type { Problem } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import type { ContentfulStatusCode } from "hono/utils/http-status";

const statuses: Readonly<Record<string, ContentfulStatusCode>> = {
  VIEW_INVALID: 400,
  SESSION_TOO_LARGE: 400,
  REQUEST_INVALID: 400,
  SESSION_REQUIRED: 401,
  LOGIN_FAILED: 401,
  LOGIN_EXPIRED: 401,
  OIDC_REJECTED: 401,
  OIDC_CLAIMS_INVALID: 401,
  REQUEST_UNAUTHENTICATED: 401,
  REQUEST_FORGED: 403,
  IDENTITY_REJECTED: 403,
  VIEW_FORBIDDEN: 403,
  REQUEST_FORBIDDEN: 403,
  VIEW_NOT_FOUND: 404,
  REQUEST_TARGET_NOT_FOUND: 404,
  ACTION_FAILED: 422,
  LOGIN_LIMITED: 429,
  REQUEST_LIMITED: 429,
  STREAMS_LIMITED: 429,
  AGENT_OUTDATED: 501,
  AGENT_OFFLINE: 503,
  VIEW_UNAVAILABLE: 503,
  REVIEW_FAILED: 503,
  OIDC_UNAVAILABLE: 503,
};

/** An error without a status of its own has an internal message: the log has it, the client does not. */
export function problemOf(thrown: unknown): {
  readonly status: ContentfulStatusCode;
  readonly problem: Problem;
  readonly isInternal: boolean;
} {
  const { code, message } = AppError.from(thrown);
  const status = statuses[code];
  if (status !== undefined) return { status, problem: { code, message }, isInternal: false };
  const text = "the hub could not answer the request; its log has the reason";
  return { status: 500, problem: { code: "INTERNAL", message: text }, isInternal: true };
}
