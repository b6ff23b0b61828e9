/** Logins with OpenID Connect: the authorization code flow with PKCE, a state and a nonce. */

import { endpoints } from "@flotilla/shared/dashboard";
import {
  createConnectionPools,
  createExchanger,
  type EgressPolicy,
  type ProxySettings,
} from "@flotilla/shared/source/transport";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { Identity } from "../session/identity.ts";
import type { LoginFlow } from "../session/login-cookies.ts";
import { type Claims, identityFrom } from "./claims.ts";
import type { OidcConfig } from "./config/index.ts";
import { createProvider } from "./provider.ts";
import { isClientRefused, providerError } from "./provider-error.ts";

/** What must be the same when the provider redirects the browser back. */
export type LoginChecks = Pick<LoginFlow, "state" | "nonce" | "verifier">;

export interface OidcLogin {
  /** The origin of the dashboard, to which the provider redirects browsers. */
  readonly dashboardUrl: string;
  /** How long a session lasts. */
  readonly sessionMs: number;
  /** The address at the provider to which the browser is redirected. Throws OIDC_UNAVAILABLE. */
  begin(): Promise<{ readonly address: URL; readonly checks: LoginChecks }>;
  /**
   * Whom the provider has logged in, by the query with which the browser comes back. Throws OIDC_REJECTED, OIDC_UNAVAILABLE and
   * OIDC_CLAIMS_INVALID.
   */
  finish(query: URLSearchParams, checks: LoginChecks): Promise<Identity>;
  close(): Promise<void>;
}

export interface OidcLoginDeps {
  readonly config: OidcConfig;
  readonly userAgent: string;
  readonly egress: EgressPolicy;
  readonly proxy?: ProxySettings | undefined;
  readonly clock: Clock;
}

export function createOidcLogin(deps: OidcLoginDeps): OidcLogin {
  const { config, userAgent, egress, proxy } = deps;
  const { issuer, dashboardUrl, sessionMs } = config;
  const pools = createConnectionPools({
    ...(proxy !== undefined && { proxy }),
    connectTimeoutMs: 5_000,
    idleTimeoutMs: 10_000,
    connectionsPerHost: 4,
    maxPools: 1,
    egress,
  });
  const provider = createProvider({ ...deps, exchange: createExchanger({ pools, userAgent }) });
  const callback = new URL(endpoints.oidcCallback.path, dashboardUrl);

  async function exchangeCode(current: URL, checks: LoginChecks): Promise<Claims> {
    const { library, clients } = await provider.connect();
    let failure: unknown;
    for (const client of await clients()) {
      try {
        const tokens = await library.authorizationCodeGrant(client, current, {
          expectedState: checks.state,
          expectedNonce: checks.nonce,
          pkceCodeVerifier: checks.verifier,
          idTokenExpected: true,
        });
        return tokens.claims() ?? {};
      } catch (thrown) {
        failure = thrown;
        if (!isClientRefused(thrown, library)) break;
      }
    }
    throw providerError(failure, { library, issuer, kind: hubErrors.OIDC_REJECTED });
  }

  return {
    dashboardUrl,
    sessionMs,
    async begin() {
      const { library, anonymous } = await provider.connect();
      const checks = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      };
      try {
        const address = library.buildAuthorizationUrl(anonymous, {
          redirect_uri: callback.href,
          scope: config.scopes.join(" "),
          code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: "S256",
          state: checks.state,
          nonce: checks.nonce,
        });
        return { address, checks };
      } catch (thrown) {
        throw providerError(thrown, { library, issuer, kind: hubErrors.OIDC_UNAVAILABLE });
      }
    },
    async finish(query, checks) {
      const current = new URL(callback);
      current.search = query.toString();
      return identityFrom(await exchangeCode(current, checks), config);
    },
    close: () => pools.close(),
  };
}
