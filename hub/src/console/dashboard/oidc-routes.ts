/**
 * Login with OpenID Connect: redirects the browser to the provider, and from its callback to the page. A failure is redirected,
 * too: an encrypted cookie has the error, which the login page shows.
 *
 * The callback comes from another site, so the browser does not send the cookies of a session with it, nor with the request for
 * the page that follows. Neither needs them: the page reads the session by a request of its own.
 */

import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import type { Problem } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { clientAddress } from "../../events/index.ts";
import type { OidcLogin } from "../oidc/index.ts";
import type { LoginCookies } from "../session/login-cookies.ts";
import { isSameToken, type Sessions } from "../session/sessions.ts";
import type { Api, ApiContext } from "./context.ts";
import { problemOf } from "./problem.ts";
import { serve } from "./respond.ts";
import { returnPathOf } from "./return-path.ts";
import { logins } from "./session-routes.ts";

export interface OidcRoutesDeps {
  readonly oidc: OidcLogin;
  readonly cookies: LoginCookies;
  readonly sessions: Pick<Sessions, "loginAs">;
  /** The header with the address of the client, which an ingress sets. */
  readonly addressHeader?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OidcRoutes {
  /** Why the last login of this browser failed. */
  failureOf(context: ApiContext): Promise<Problem | undefined>;
}

export function oidcRoutes(api: Api, deps: OidcRoutesDeps): OidcRoutes {
  const { oidc, cookies, sessions, addressHeader, clock, log } = deps;
  // Each login takes one of both; requests to the provider follow from either.
  const begun = createKeyedRateLimiter({ clock, ...logins });
  const finished = createKeyedRateLimiter({ clock, ...logins });
  const addressOf = (context: ApiContext) => clientAddress(context.env.incoming, addressHeader);

  function limit(rates: typeof begun, address: string): void {
    if (!rates.take(address))
      throw new AppError(hubErrors.LOGIN_LIMITED, "too many logins; wait a moment, then retry");
  }

  function redirect(context: ApiContext, to: string, setCookies: readonly string[]): Response {
    for (const cookie of setCookies) context.header("set-cookie", cookie, { append: true });
    return context.redirect(to, 303);
  }

  async function fail(context: ApiContext, thrown: unknown, to: string): Promise<Response> {
    const { problem } = problemOf(thrown);
    const err = AppError.from(thrown);
    // These requests need no session: a flood of them must not fill the log.
    const level = err.code === hubErrors.LOGIN_LIMITED.code ? "debug" : "warn";
    const fields = { err, address: addressOf(context) };
    log[level](fields, "a login to the dashboard with OpenID Connect failed");
    return redirect(context, to, [await cookies.write({ kind: "failure", ...problem })]);
  }

  serve(api, "oidcLogin", async (context) => {
    const returnPath = returnPathOf(context.req.query("return"));
    try {
      limit(begun, addressOf(context));
      const { address, checks } = await oidc.begin();
      const cookie = await cookies.write({ kind: "flow", ...checks, returnPath });
      return redirect(context, address.href, [cookie]);
    } catch (thrown) {
      return await fail(context, thrown, returnPath);
    }
  });

  serve(api, "oidcCallback", async (context) => {
    let returnPath = returnPathOf(undefined);
    const address = addressOf(context);
    try {
      limit(finished, address);
      const flow = await cookies.read(context.req.header("cookie"));
      const query = new URL(context.req.url).searchParams;
      if (flow?.kind !== "flow" || !isSameToken(query.get("state") ?? "", flow.state))
        throw new AppError(
          hubErrors.LOGIN_EXPIRED,
          `this login was started more than 10 minutes ago, in another browser or at another address than ${oidc.dashboardUrl}, or was already used; log in again`,
        );
      returnPath = flow.returnPath;
      const identity = await oidc.finish(query, flow);
      const endMs = clock.now() + oidc.sessionMs;
      const { session, cookies: begunSession } = await sessions.loginAs(identity, endMs);
      const fields = { user: session.user.username, address, method: "oidc" };
      log.info(fields, "logged in to the dashboard");
      return redirect(context, returnPath, begunSession);
    } catch (thrown) {
      return await fail(context, thrown, returnPath);
    }
  });

  return {
    async failureOf(context) {
      const content = await cookies.read(context.req.header("cookie"));
      if (content?.kind !== "failure") return undefined;
      return { code: content.code, message: content.message };
    },
  };
}
