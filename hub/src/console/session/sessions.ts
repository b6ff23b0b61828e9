/**
 * Sessions of the dashboard: a cookie that every replica can open. It has the user's own token and ends no later than it, or it has
 * the user and the groups of an identity provider.
 */

import { randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "@flotilla/shared/errors";
import type { Clock } from "@flotilla/shared/time";
import * as z from "zod";
import { hubErrors } from "../../base/index.ts";
import type { Access } from "../access/cached-access.ts";
import type { User } from "../access/reviews.ts";
import { sessionCookies, sessionTextOf } from "./cookies.ts";
import { decrypt, encrypt, keyIdOf } from "./encryption.ts";
import { authenticatedGroup, checkIdentity, type Identity } from "./identity.ts";
import { maxSessionMs } from "./key-rotation.ts";
import { newestKey, type SessionKeys } from "./session-keys.ts";

/** As whom the hub sends requests for the user to its API server. */
export type Credentials =
  | { readonly kind: "token"; readonly token: string }
  /** A login with OIDC: the hub impersonates the user. */
  | ({ readonly kind: "impersonation" } & Identity);

export interface Session {
  readonly user: User;
  readonly credentials: Credentials;
  /** Requests that change something have it in a header, which other sites cannot set. */
  readonly csrfToken: string;
  readonly expiresAtMs: number;
}

export interface NewSession {
  readonly session: Session;
  /** Values of Set-Cookie. */
  readonly cookies: readonly string[];
}

export interface Sessions {
  /** Throws LOGIN_FAILED, SESSION_TOO_LARGE and REVIEW_FAILED. */
  login(token: string): Promise<NewSession>;
  /** For a user whom an identity provider has authenticated. Throws IDENTITY_REJECTED and SESSION_TOO_LARGE. */
  loginAs(identity: Identity, expiresAtMs: number): Promise<NewSession>;
  /** The session of a request by its header Cookie; undefined if there is none that is valid now. Throws REVIEW_FAILED. */
  read(cookie: string | undefined): Promise<Session | undefined>;
}

const storedSchema = z.object({
  credentials: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("token"), token: z.string() }),
    z.object({
      kind: z.literal("impersonation"),
      user: z.string(),
      groups: z.array(z.string()),
    }),
  ]),
  csrfToken: z.string(),
  expiresAtMs: z.int(),
});
type StoredSession = Readonly<z.infer<typeof storedSchema>>;

export interface SessionsDeps {
  readonly keys: SessionKeys;
  readonly access: Pick<Access, "userOf">;
  readonly clock: Clock;
}

export function createSessions({ keys, access, clock }: SessionsDeps): Sessions {
  async function begin(
    user: User,
    credentials: StoredSession["credentials"],
    endMs: number,
  ): Promise<NewSession> {
    const now = clock.now();
    const expiresAtMs = Math.min(endMs, now + maxSessionMs);
    const csrfToken = randomBytes(18).toString("base64url");
    const stored: StoredSession = { credentials, csrfToken, expiresAtMs };
    const text = encrypt(JSON.stringify(stored), await newestKey(keys), "session");
    const cookies = sessionCookies(text, Math.floor((expiresAtMs - now) / 1_000));
    return { session: { user, ...stored }, cookies };
  }

  return {
    async login(token) {
      const user = await access.userOf(token);
      if (user === undefined)
        throw failed(
          "the API server of the hub does not accept this token: it has expired, was revoked, or is for another cluster",
        );
      const endMs = expiryOf(token) ?? Number.POSITIVE_INFINITY;
      return await begin(user, { kind: "token", token }, endMs);
    },
    async loginAs({ user, groups }, expiresAtMs) {
      checkIdentity({ user, groups });
      const credentials = { kind: "impersonation" as const, user, groups: [...groups] };
      return await begin(impersonatedUser(credentials), credentials, expiresAtMs);
    },
    async read(cookie) {
      const text = sessionTextOf(cookie);
      if (text === undefined) return undefined;
      const plain = decrypt(text, await keys.get(keyIdOf(text)), "session");
      const stored =
        plain === undefined ? undefined : storedSchema.safeParse(JSON.parse(plain)).data;
      if (stored === undefined || clock.now() >= stored.expiresAtMs) return undefined;
      const { credentials } = stored;
      const user =
        credentials.kind === "token"
          ? await access.userOf(credentials.token)
          : impersonatedUser(credentials);
      return user === undefined ? undefined : { user, ...stored };
    },
  };
}

/** As the API server knows a user whom the hub impersonates, so that its reviews have the answers that requests will have. */
function impersonatedUser({ user, groups }: Identity): User {
  return { username: user, uid: "", groups: [...groups, authenticatedGroup], extra: {} };
}

/** Compares in constant time. */
export function isSameToken(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** When a JSON Web Token ends, in ms; undefined for other tokens. The API server has checked its signature. Pure. */
export function expiryOf(token: string): number | undefined {
  const { exp } = claimsOf(token) ?? {};
  return typeof exp === "number" ? exp * 1_000 : undefined;
}

/** The claims of a JSON Web Token; undefined for other tokens. Pure. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload = "", ...rest] = token.split(".");
  if (rest.length !== 1) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    return z.record(z.string(), z.unknown()).safeParse(claims).data;
  } catch {
    // An opaque token may have dots, too.
    return undefined;
  }
}

function failed(message: string): AppError {
  return new AppError(hubErrors.LOGIN_FAILED, message);
}
