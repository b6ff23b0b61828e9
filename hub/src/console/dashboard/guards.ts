/** Middleware of the API: security headers, session, CSRF checks, body limit. */

import { csrfHeader, endpoints, loginCsrfToken } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import type { MiddlewareHandler } from "hono";
import type { secureHeaders } from "hono/secure-headers";
import { hubErrors } from "../../base/index.ts";
import type { ScopeOf } from "../access/scope.ts";
import { isSameToken, type Sessions } from "../session/sessions.ts";
import type { Env } from "./context.ts";

/** Only files of the build are loaded and run, and no site shows the page in a frame. */
export const securityHeaders = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", "data:"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: "DENY",
  referrerPolicy: "no-referrer",
  // The hub itself has no TLS here: the ingress before it decides.
  strictTransportSecurity: false,
} satisfies SecureHeadersOptions;

const publicRequests: ReadonlySet<string> = new Set(
  Object.values(endpoints)
    .filter((endpoint) => "isPublic" in endpoint)
    .map(({ method, path }) => `${method} ${path}`),
);

type SecureHeadersOptions = NonNullable<Parameters<typeof secureHeaders>[0]>;

export interface GuardDeps {
  readonly sessions: Pick<Sessions, "read">;
  readonly scopeOf: ScopeOf;
  /** The reason why requests are rejected now. */
  readonly notReady: () => string | undefined;
}

/** Throws SESSION_REQUIRED, REQUEST_FORGED, VIEW_UNAVAILABLE and REVIEW_FAILED. */
export function requireSession({ sessions, scopeOf, notReady }: GuardDeps): MiddlewareHandler<Env> {
  return async (context, next) => {
    const { method, path } = context.req;
    const why = notReady();
    if (why !== undefined)
      throw new AppError(hubErrors.VIEW_UNAVAILABLE, `this replica cannot answer: ${why}`);
    const given = context.req.header(csrfHeader) ?? "";
    const site = context.req.header("sec-fetch-site") ?? "same-origin";
    if (method !== "GET" && site !== "same-origin")
      throw forged("the request comes from the page of another site");
    if (publicRequests.has(`${method} ${path}`)) {
      if (method !== "GET" && given !== loginCsrfToken)
        throw forged(`a login needs the header ${csrfHeader}: ${loginCsrfToken}`);
      await next();
      return;
    }
    const session = await sessions.read(context.req.header("cookie"));
    if (session === undefined)
      throw new AppError(hubErrors.SESSION_REQUIRED, "there is no session; log in");
    if (method !== "GET" && !isSameToken(given, session.csrfToken))
      throw forged(`the header ${csrfHeader} does not have the CSRF token of the session`);
    context.set("session", session);
    context.set("scope", await scopeOf(session.user));
    await next();
  };
}

/**
 * Rejects a body that is too long, or has no Content-Length. Hono's own limit fails for a request that has neither a length nor
 * a body, such as DELETE: it makes a Request of the global class from the one of its adapter. Throws VIEW_INVALID.
 */
export function limitBody(maxBytes: number): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (context.req.header("transfer-encoding") !== undefined)
      throw new AppError(
        hubErrors.VIEW_INVALID,
        "the request has a body without the header Content-Length; send it as a whole",
      );
    if (Number(context.req.header("content-length") ?? 0) > maxBytes)
      throw new AppError(
        hubErrors.VIEW_INVALID,
        `the body of the request is longer than ${maxBytes} bytes`,
      );
    await next();
  };
}

function forged(message: string): AppError {
  return new AppError(hubErrors.REQUEST_FORGED, `${message}; reload the dashboard`);
}
