/** Verifies OpenID Connect ID tokens, as Google Pub/Sub sends them. Pure. */
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import * as z from "zod";

/** The public keys of an issuer, by their ids. */
export type IssuerKeys = ReadonlyMap<string, KeyObject>;

export interface ExpectedToken {
  /** The accepted issuers. */
  readonly issuers: readonly string[];
  readonly audience: string;
  readonly email: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export type TokenVerdict =
  | { readonly kind: "valid" }
  /** The issuer may have a new key. */
  | { readonly kind: "unknown key" }
  | { readonly kind: "invalid"; readonly why: string };

/** Between the clocks of Google and the hub. */
const clockSkewMs = 60_000;
/** Google's are about 1 KiB. */
const maxTokenLength = 16 * 1024;
const minModulusBits = 2_048;

const headerSchema = z.object({ alg: z.literal("RS256"), kid: z.string() });

const claimsSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  exp: z.number(),
  iat: z.number(),
  email: z.string(),
  email_verified: z.literal(true),
});

const keySetSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().optional() })).max(100),
});

/** Only RSA keys for signatures; undefined when it is not a key set. */
export function parseKeySet(text: string): IssuerKeys | undefined {
  const set = keySetSchema.safeParse(parse(text));
  if (!set.success) return undefined;
  const keys = new Map<string, KeyObject>();
  for (const jwk of set.data.keys) {
    const key = jwk.kty === "RSA" ? publicKeyOf(jwk) : undefined;
    if (key !== undefined) keys.set(jwk.kid ?? "", key);
  }
  return keys;
}

export function verifyIdToken(
  token: string,
  keys: IssuerKeys,
  { issuers, audience, email, now }: ExpectedToken,
): TokenVerdict {
  if (token.length > maxTokenLength) return invalid("it is too long");
  const [head = "", body = "", signature = "", ...rest] = token.split(".");
  const header = headerSchema.safeParse(decode(head));
  if (!header.success || rest.length > 0) return invalid("it is not a JWT with RS256");
  const key = keys.get(header.data.kid);
  if (key === undefined) return { kind: "unknown key" };
  const signed = Buffer.from(`${head}.${body}`);
  if (!verify("RSA-SHA256", signed, key, Buffer.from(signature, "base64url")))
    return invalid("its signature is not valid");
  const claims = claimsSchema.safeParse(decode(body));
  if (!claims.success) return invalid("a claim is missing, or the email is not verified");
  const { iss, aud, exp, iat } = claims.data;
  if (!issuers.includes(iss)) return invalid("it is of another issuer");
  if (aud !== audience) return invalid("it is for another audience");
  if (claims.data.email !== email) return invalid("it is of another email");
  if (exp * 1_000 + clockSkewMs < now) return invalid("it has expired");
  if (iat * 1_000 - clockSkewMs > now) return invalid("it was issued in the future");
  return { kind: "valid" };
}

function publicKeyOf(jwk: JsonWebKey): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    return (key.asymmetricKeyDetails?.modulusLength ?? 0) < minModulusBits ? undefined : key;
  } catch {
    return undefined;
  }
}

function decode(part: string): unknown {
  return parse(Buffer.from(part, "base64url").toString());
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalid(why: string): TokenVerdict {
  return { kind: "invalid", why };
}
