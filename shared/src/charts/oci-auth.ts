/**
 * What a registry wants to see before it answers: basic credentials, or a token from the token service that it names.
 * Tokens are kept until they expire, and what a repository wanted is remembered, so that it is not refused first
 * each time. Credentials go to the registry and its token service, and to nobody else.
 */

import { createSingleFlight } from "../concurrency/single-flight.ts";
import { AppError } from "../errors/app-error.ts";
import type { Clock } from "../time/clock.ts";
import { accessKey, basicAuthorization, isHome, type RepositoryAccess } from "./access.ts";
import { describeUrl, isLoopback } from "./address.ts";
import { readBody } from "./body.ts";
import { chartErrors } from "./errors.ts";
import type { Exchange, Exchanger } from "./exchange.ts";
import { createRecent } from "./recent.ts";
import { refusal } from "./refusal.ts";
import { type Challenge, parseChallenges } from "./www-authenticate.ts";

export interface OciAuth {
  /** What this repository wanted last time, if it is still good. */
  remembered(registry: URL, path: string, access: RepositoryAccess): string | undefined;
  /** What it wants now, after it refused `refused`; undefined when there is nothing (else) to show. */
  respond(challenged: ChallengedRequest): Promise<string | undefined>;
}

export interface ChallengedRequest {
  readonly answer: Exchange;
  readonly registry: URL;
  readonly path: string;
  readonly access: RepositoryAccess;
  readonly refused: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Granted {
  readonly authorization: string;
  /** On the monotonic clock. */
  readonly goodUntil: number;
}

const maxTokenAnswerBytes = 1024 * 1024;
const tokenTimeoutMs = 30_000;
/** The distribution specification's default for a token that does not say. */
const defaultTokenSeconds = 60;
const clientId = "flotilla";

export function createOciAuth(deps: {
  readonly exchange: Exchanger;
  readonly clock: Clock;
}): OciAuth {
  const granted = createRecent<Granted>(1000);
  const requests = createSingleFlight<Granted>();

  async function requestToken(
    challenge: Challenge,
    challenged: ChallengedRequest,
    signal: AbortSignal,
  ): Promise<Granted> {
    const { access } = challenged;
    const realm = tokenService(challenge, challenged);
    const asker = isHome(access, challenged.registry) ? access : anonymous(access);
    if (
      realm.protocol === "http:" &&
      hasCredentials(asker) &&
      access.plainHttp !== true &&
      !isLoopback(realm.host)
    ) {
      throw new AppError(
        chartErrors.REGISTRY_UNAUTHORIZED,
        `${challenged.answer.asked}: the registry wants the credentials at ${describeUrl(realm)}, which is not TLS: they were not sent`,
      );
    }
    const answer = await deps.exchange({
      ...tokenRequest(realm, challenge, challenged.path, asker),
      access,
      timeoutMs: tokenTimeoutMs,
      signal,
      failure: chartErrors.REGISTRY_UNREACHABLE,
    });
    if (answer.status !== 200) throw await refusal(answer, asker, chartErrors.REGISTRY_ANSWER);
    return readToken(answer, deps.clock.monotonic());
  }

  function remembered(registry: URL, path: string, access: RepositoryAccess): string | undefined {
    if (access.bearerToken !== undefined && isHome(access, registry))
      return `Bearer ${access.bearerToken}`;
    const known = granted.get(grantKey(registry, path, access));
    return known === undefined || known.goodUntil <= deps.clock.monotonic()
      ? undefined
      : known.authorization;
  }

  return {
    remembered,

    async respond(challenged) {
      const { registry, path, access } = challenged;
      if (access.bearerToken !== undefined && isHome(access, registry)) return undefined;
      const newer = remembered(registry, path, access);
      if (newer !== undefined && newer !== challenged.refused) return newer;
      const challenges = challenged.answer
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
        granted.set(key, grant);
        return grant.authorization;
      }
      const basic = isHome(access, registry) ? basicAuthorization(access) : undefined;
      if (
        basic === undefined ||
        !challenges.some(({ scheme }) => scheme === "basic") ||
        challenged.refused === basic
      )
        return undefined;
      granted.set(key, { authorization: basic, goodUntil: Number.POSITIVE_INFINITY });
      return basic;
    },
  };
}

/** Everything that a token depends on: who asks, whom, and for what. */
function grantKey(registry: URL, path: string, access: RepositoryAccess): string {
  return `${accessKey(access)} ${registry.origin} ${path}`;
}

function tokenService(challenge: Challenge, challenged: ChallengedRequest): URL {
  const realm = URL.parse(challenge.parameters["realm"] ?? "", challenged.registry.href);
  if (realm === null || (realm.protocol !== "https:" && realm.protocol !== "http:")) {
    throw new AppError(
      chartErrors.REGISTRY_ANSWER,
      `${challenged.answer.asked}: the registry names a token service that is not an address`,
    );
  }
  return realm;
}

function tokenRequest(realm: URL, challenge: Challenge, path: string, asker: RepositoryAccess) {
  const service = challenge.parameters["service"];
  const scope = challenge.parameters["scope"] ?? `repository:${path}:pull`;
  if (asker.identityToken !== undefined) {
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      client_id: clientId,
      scope,
      refresh_token: asker.identityToken,
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
  if (asker.username !== undefined) url.searchParams.set("account", asker.username);
  return {
    method: "GET" as const,
    url,
    authorization: basicAuthorization(asker),
    headers: { accept: "application/json" },
  };
}

async function readToken(answer: Exchange, now: number): Promise<Granted> {
  const { bytes } = await readBody(answer, {
    maxBytes: maxTokenAnswerBytes,
    tooLarge: chartErrors.REGISTRY_ANSWER,
  });
  const fields = parseFields(answer, bytes);
  const token = fields["token"] ?? fields["access_token"];
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new AppError(chartErrors.REGISTRY_ANSWER, `${answer.asked}: the answer holds no token`);
  }
  const seconds =
    typeof fields["expires_in"] === "number" ? fields["expires_in"] : defaultTokenSeconds;
  // Given back a little early, so that it does not expire on its way.
  return {
    authorization: `Bearer ${token}`,
    goodUntil: now + Math.max(0, seconds * 0.9 - 5) * 1000,
  };
}

function parseFields(answer: Exchange, bytes: Uint8Array): { readonly [field: string]: unknown } {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof parsed === "object" && parsed !== null) return { ...parsed };
  } catch {
    // The cause is left out: it quotes the text, and half a token may be in it.
    throw new AppError(chartErrors.REGISTRY_ANSWER, `${answer.asked}: the answer is not JSON`);
  }
  throw new AppError(
    chartErrors.REGISTRY_ANSWER,
    `${answer.asked}: the answer is not a JSON object`,
  );
}

function hasCredentials(access: RepositoryAccess): boolean {
  return access.password !== undefined || access.identityToken !== undefined;
}

/** The same trust in certificates, without anything that says who asks. */
function anonymous(access: RepositoryAccess): RepositoryAccess {
  const { origin, caPem, insecureSkipVerify, plainHttp } = access;
  return {
    origin,
    ...(caPem === undefined ? {} : { caPem }),
    ...(insecureSkipVerify === undefined ? {} : { insecureSkipVerify }),
    ...(plainHttp === undefined ? {} : { plainHttp }),
  };
}
