/** Login, logout, and who is logged in. */

import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import type { LoginMethods, Problem, Session as ShownSession } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { clientAddress } from "../../events/index.ts";
import { noSessionCookies } from "../session/cookies.ts";
import type { Session, Sessions } from "../session/sessions.ts";
import type { Api, ApiContext } from "./context.ts";
import type { RedeemCode } from "./one-time-login.ts";
import { serve } from "./respond.ts";

export interface SessionRoutesDeps {
  readonly sessions: Pick<Sessions, "login">;
  readonly redeemCode: RedeemCode;
  readonly methods: LoginMethods["methods"];
  /** Why the last login of this browser at a provider failed. */
  readonly failureOf: (context: ApiContext) => Promise<Problem | undefined>;
  readonly hub: ShownSession["hub"];
  /** The header with the address of the client, which an ingress sets. */
  readonly addressHeader?: string | undefined;
  /** The workspaces that the session may see something of. */
  readonly namespacesOf: (context: ApiContext) => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** How many logins one address may try. */
export const logins = { perSecond: 1 / 6, burst: 10 };

export function sessionRoutes(api: Api, deps: SessionRoutesDeps): void {
  const { sessions, methods, hub, addressHeader, clock, log } = deps;
  const rates = createKeyedRateLimiter({ clock, ...logins });

  function shown(session: Session, namespaces: readonly string[]): ShownSession {
    const { user, csrfToken, expiresAtMs } = session;
    return {
      user: user.username,
      groups: [...user.groups],
      csrfToken,
      expiresAt: formatTime(expiresAtMs),
      namespaces: [...namespaces],
      hub,
    };
  }

  serve(api, "loginMethods", async (context) => {
    const failure = await deps.failureOf(context);
    return {
      methods: [...methods],
      hub: { version: hub.version },
      ...(failure !== undefined && { failure }),
    };
  });
  serve(api, "beginSession", async (context, login) => {
    const address = clientAddress(context.env.incoming, addressHeader);
    if (!rates.take(address))
      throw new AppError(hubErrors.LOGIN_LIMITED, "too many logins; wait a moment, then retry");
    const token = "code" in login ? await deps.redeemCode(login.code) : login.token;
    const { session, cookies } = await sessions.login(token);
    for (const cookie of cookies) context.header("set-cookie", cookie, { append: true });
    log.info({ user: session.user.username, address }, "logged in to the dashboard");
    return shown(session, []);
  });
  serve(api, "session", (context) => shown(context.var.session, deps.namespacesOf(context)));
  serve(api, "endSession", (context) => {
    for (const cookie of noSessionCookies()) context.header("set-cookie", cookie, { append: true });
    return undefined;
  });
}
