/**
 * Authentication at OCI registries: basic credentials, or a token from the token service that the registry names. Tokens are
 * cached until they expire, with the scheme of each repository, so that not every request is rejected first. Credentials are
 * sent to the registry and its token service only.
 */

import { createLruCache } from "../../../runtime/cache/index.ts";
import { createSingleFlight } from "../../../runtime/concurrency/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import type { Clock } from "../../../runtime/time/index.ts";
import { parseBounded } from "../../../text/json/index.ts";
import {
  accessKey,
  basicAuthorization,
  chartErrors,
  describeUrl,
  isHome,
  isLoopback,
  type RepositoryAccess,
} from "../index.ts";
import { type Exchange, type Exchanger, readBody, responseError } from "../transport/index.ts";
import { type Challenge, parseChallenges } from "./www-authenticate.ts";

export interface RegistryAuth {
  /** The Authorization header that this repository accepted last, unless it has expired. */
  cached(registry: URL, path: string, access: RepositoryAccess): string | undefined;
  /** The Authorization header for a challenge, after `rejected` was rejected; undefined: there are no (other) credentials. */
  authorize(challenged: ChallengedRequest): Promise<string | undefined>;
}

export interface ChallengedRequest {
  readonly response: Exchange;
  readonly registry: URL;
  readonly path: string;
  readonly access: RepositoryAccess;
  readonly rejected: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Grant {
  readonly authorization: string;
  /** On the monotonic clock. */
  readonly expiresAt: number;
}

const maxTokenResponseBytes = 1024 * 1024;
const tokenTimeoutMs = 30_000;
/** The default of the distribution specification for a token without `expires_in`. */
const defaultTokenSeconds = 60;
const clientId = "flotilla";

export function createRegistryAuth(deps: {
  readonly exchange: Exchanger;
  readonly clock: Clock;
}): RegistryAuth {
  const grants = createLruCache<Grant>(1000);
  const requests = createSingleFlight<Grant>();

  async function requestToken(
    challenge: Challenge,
    challenged: ChallengedRequest,
    signal: AbortSignal,
  ): Promise<Grant> {
    const { access } = challenged;
    const realm = tokenService(challenge, challenged);
    const requester = isHome(access, challenged.registry) ? access : anonymous(access);
    if (
      realm.protocol === "http:" &&
      hasCredentials(requester) &&
      access.plainHttp !== true &&
      access.plainHttpFallback !== true &&
      !isLoopback(realm.host)
    ) {
      throw new AppError(
        chartErrors.REGISTRY_UNAUTHORIZED,
        `${challenged.response.request}: the token service ${describeUrl(realm)} does not use TLS, so the credentials were not sent`,
      );
    }
    const response = await deps.exchange({
      ...tokenRequest(realm, challenge, challenged.path, requester),
      access,
      timeoutMs: tokenTimeoutMs,
      signal,
      errorKind: chartErrors.REGISTRY_UNREACHABLE,
    });
    if (response.status !== 200)
      throw await responseError(response, requester, chartErrors.REGISTRY_ANSWER);
    return readToken(response, deps.clock.monotonic());
  }

  function cached(registry: URL, path: string, access: RepositoryAccess): string | undefined {
    if (access.bearerToken !== undefined && isHome(access, registry))
      return `Bearer ${access.bearerToken}`;
    const known = grants.get(grantKey(registry, path, access));
    return known === undefined || known.expiresAt <= deps.clock.monotonic()
      ? undefined
      : known.authorization;
  }

  return {
    cached,

    async authorize(challenged) {
      const { registry, path, access } = challenged;
      if (access.bearerToken !== undefined && isHome(access, registry)) return undefined;
      const newer = cached(registry, path, access);
      if (newer !== undefined && newer !== challenged.rejected) return newer;
      const challenges = challenged.response
        .headerValues("www-authenticate")
        .flatMap(parseChallenges);
      const key = grantKey(registry, path, access);

      const bearer = challenges.find(
        ({ scheme, parameters }) => scheme === "bearer" && parameters["realm"] !== undefined,
      );
      if (bearer !== undefined) {
        const grant = await requests.run(
          key,
          (signal) => requestToken(bearer, challenged, signal),
          challenged.signal,
        );
        grants.set(key, grant);
        return grant.authorization;
      }
      const basic = isHome(access, registry) ? basicAuthorization(access) : undefined;
      if (
        basic === undefined ||
        !challenges.some(({ scheme }) => scheme === "basic") ||
        challenged.rejected === basic
      )
        return undefined;
      grants.set(key, { authorization: basic, expiresAt: Number.POSITIVE_INFINITY });
      return basic;
    },
  };
}

/** Everything that a token depends on: the credentials, the registry and the repository. */
function grantKey(registry: URL, path: string, access: RepositoryAccess): string {
  return `${accessKey(access)} ${registry.origin} ${path}`;
}

function tokenService(challenge: Challenge, challenged: ChallengedRequest): URL {
  const realm = URL.parse(challenge.parameters["realm"] ?? "", challenged.registry.href);
  if (realm === null || (realm.protocol !== "https:" && realm.protocol !== "http:")) {
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${challenged.response.request}: the registry names an invalid token service`,
    );
  }
  return realm;
}

function tokenRequest(realm: URL, challenge: Challenge, path: string, requester: RepositoryAccess) {
  const service = challenge.parameters["service"];
  const scope = challenge.parameters["scope"] ?? `repository:${path}:pull`;
  if (requester.identityToken !== undefined) {
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      client_id: clientId,
      scope,
      refresh_token: requester.identityToken,
    });
    if (service !== undefined) form.set("service", service);
    return {
      method: "POST" as const,
      url: realm,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: form.toString(),
    };
  }
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set("service", service);
  // One parameter for each scope, as the distribution specification has it.
  for (const one of scope.split(" ")) url.searchParams.append("scope", one);
  if (requester.username !== undefined) url.searchParams.set("account", requester.username);
  return {
    method: "GET" as const,
    url,
    authorization: basicAuthorization(requester),
    headers: { accept: "application/json" },
  };
}

async function readToken(response: Exchange, now: number): Promise<Grant> {
  const { bytes } = await readBody(response, {
    maxBytes: maxTokenResponseBytes,
    tooLarge: chartErrors.REGISTRY_ANSWER,
  });
  const fields = parseFields(response, bytes);
  // Some services answer an empty one beside the other, and some null.
  const token = [fields["token"], fields["access_token"]].find(
    (each) => typeof each === "string" && each !== "",
  );
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${response.request}: the response has no token`,
    );
  }
  const seconds =
    typeof fields["expires_in"] === "number" ? fields["expires_in"] : defaultTokenSeconds;
  // Expires a little early here, so that no request carries an expired token.
  return {
    authorization: `Bearer ${token}`,
    expiresAt: now + Math.max(0, seconds * 0.9 - 5) * 1000,
  };
}

function parseFields(response: Exchange, bytes: Uint8Array): { readonly [field: string]: unknown } {
  try {
    const parsed: unknown = parseBounded(new TextDecoder().decode(bytes));
    if (typeof parsed === "object" && parsed !== null) return { ...parsed };
  } catch {
    // Without the cause: it quotes the text, which may have a part of the token.
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${response.request}: the response is not JSON`,
    );
  }
  throw new AppError(
    chartErrors.REGISTRY_ANSWER,
    `${response.request}: the response is not a JSON object`,
  );
}

function hasCredentials(access: RepositoryAccess): boolean {
  return access.password !== undefined || access.identityToken !== undefined;
}

/** The same TLS settings, without credentials. */
function anonymous(access: RepositoryAccess): RepositoryAccess {
  const { origin, caPem, insecureSkipVerify, plainHttp, proxy } = access;
  return {
    origin,
    ...(caPem === undefined ? {} : { caPem }),
    ...(insecureSkipVerify === undefined ? {} : { insecureSkipVerify }),
    ...(plainHttp === undefined ? {} : { plainHttp }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}
