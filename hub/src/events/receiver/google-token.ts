/**
 * Authentication of calls by Google Pub/Sub: an ID token of the service account in the Secret. The keys of Google are fetched
 * when the first token needs them, and again when a token has a key that is not among them.
 */

import { createSingleFlight } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { RepositoryAccess } from "@flotilla/shared/source";
import { type Exchanger, readBody } from "@flotilla/shared/source/transport";
import type { Clock } from "@flotilla/shared/time";
import * as z from "zod";
import { hubErrors } from "../../base/index.ts";
import type { Authentication } from "./authenticate.ts";
import { type IssuerKeys, parseKeySet, verifyIdToken } from "./id-token.ts";

export interface GoogleTokenDeps {
  readonly exchange: Exchanger;
  /** `https://accounts.google.com`, or a server that stands in for it. */
  readonly issuer: string;
  /** Certificate authorities of the issuer besides the system's. */
  readonly caPem?: string;
  readonly clock: Clock;
}

/** The Secret's keys besides `token`. */
export interface GoogleExpectation {
  readonly email: string;
  readonly audience: string;
}

/** Throws an AppError when the keys of the issuer cannot be fetched. */
export type VerifyGoogle = (
  authorization: string,
  expected: GoogleExpectation,
) => Promise<Authentication>;

const timeoutMs = 10_000;
const maxBytes = 256 * 1024;
/** Keys are used for so long: one that Google has withdrawn is not accepted for longer. */
const keepMs = 60 * 60 * 1_000;
/** A token with an unknown key causes no request when the keys are younger; nor does a failure. */
const refetchMs = 60_000;

const discoverySchema = z.object({ jwks_uri: z.string() });

interface Fetched {
  readonly keys: IssuerKeys;
  /** On the monotonic clock. */
  readonly at: number;
}

export function createGoogleVerifier(deps: GoogleTokenDeps): VerifyGoogle {
  const { exchange, clock } = deps;
  const issuer = deps.issuer.replace(/\/$/, "");
  // Google writes its own with and without the scheme.
  const issuers = [issuer, issuer.replace(/^https:\/\//, "")];
  const flights = createSingleFlight<Fetched>();
  let fetched: Fetched | undefined;
  let failure: { readonly error: AppError; readonly at: number } | undefined;

  const isYounger = (at: number, ms: number): boolean => clock.monotonic() - at < ms;

  async function get(address: string): Promise<string> {
    const url = URL.parse(address);
    if (url === null || url.protocol !== "https:")
      throw new AppError(hubErrors.ISSUER_KEYS, `${address} is not an https:// address`);
    const access: RepositoryAccess = {
      origin: url.origin,
      ...(deps.caPem !== undefined && { caPem: deps.caPem }),
    };
    const errorKind = hubErrors.ISSUER_KEYS;
    const response = await exchange({ method: "GET", url, access, timeoutMs, errorKind });
    const { bytes } = await readBody(response, { maxBytes, tooLarge: errorKind });
    if (response.status !== 200)
      throw new AppError(
        errorKind,
        `${response.request}: the response has status ${response.status}`,
      );
    return Buffer.from(bytes).toString();
  }

  async function fetchKeys(): Promise<Fetched> {
    if (failure !== undefined && isYounger(failure.at, refetchMs)) throw failure.error;
    const at = clock.monotonic();
    try {
      const discovery = discoverySchema.safeParse(
        parse(await get(`${issuer}/.well-known/openid-configuration`)),
      );
      const keys = discovery.success ? parseKeySet(await get(discovery.data.jwks_uri)) : undefined;
      if (keys === undefined)
        throw new AppError(hubErrors.ISSUER_KEYS, `${issuer} has no set of keys`);
      failure = undefined;
      fetched = { keys, at };
      return fetched;
    } catch (thrown) {
      const error = AppError.from(thrown);
      failure = { error, at: clock.monotonic() };
      throw error;
    }
  }

  return async function verifyGoogle(authorization, { email, audience }) {
    const [, token = ""] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    if (token === "") return rejected("the header Authorization has no Bearer token");
    if (email === "" || audience === "")
      return rejected("the Secret lacks the key email or audience, which type gcr needs");
    const expected = { issuers, audience, email, now: clock.now() };
    const known = fetched !== undefined && isYounger(fetched.at, keepMs) ? fetched : undefined;
    const current = known ?? (await flights.run("keys", fetchKeys));
    let verdict = verifyIdToken(token, current.keys, expected);
    if (verdict.kind === "unknown key" && !isYounger(current.at, refetchMs))
      verdict = verifyIdToken(token, (await flights.run("keys", fetchKeys)).keys, expected);
    switch (verdict.kind) {
      case "valid":
        return { kind: "accepted" };
      case "unknown key":
        return rejected("the key of the token is not one of its issuer");
      case "invalid":
        return rejected(`the token cannot be accepted: ${verdict.why}`);
    }
  };
}

function rejected(why: string): Authentication {
  return { kind: "rejected", why };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
