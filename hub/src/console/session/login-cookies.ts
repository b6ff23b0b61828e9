/**
 * The cookie of a login with OpenID Connect: what the hub needs when the provider redirects the browser back or, if the login has
 * failed, the error that the login page shows. It is encrypted, so that every replica can read it and only the hub can write it.
 * One content replaces the other, and a session removes both: each state is valid once for a browser.
 */
import { cutText } from "@flotilla/shared/text";
import type { Clock } from "@flotilla/shared/time";
import * as z from "zod";
import { loginCookie, loginTextOf } from "./cookies.ts";
import { decrypt, encrypt, keyIdOf } from "./encryption.ts";
import { newestKey, type SessionKeys } from "./session-keys.ts";

const contentSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("flow"),
    state: z.string(),
    nonce: z.string(),
    verifier: z.string(),
    returnPath: z.string(),
  }),
  z.object({ kind: z.literal("failure"), code: z.string(), message: z.string() }),
]);
const storedSchema = z.object({ content: contentSchema, expiresAtMs: z.int() });

export type LoginContent = Readonly<z.infer<typeof contentSchema>>;
/** A login that was started; PKCE's verifier, state and nonce are of this login alone. */
export type LoginFlow = Extract<LoginContent, { kind: "flow" }>;

export interface LoginCookies {
  /** A value of Set-Cookie. */
  write(content: LoginContent): Promise<string>;
  /** What the header Cookie has; undefined if there is none that is valid now. */
  read(cookie: string | undefined): Promise<LoginContent | undefined>;
}

export interface LoginCookiesDeps {
  readonly keys: SessionKeys;
  readonly clock: Clock;
}

const validMs = { flow: 10 * 60_000, failure: 60_000 } as const;
/** A browser takes 4 KB. */
const maxMessageLength = 1_000;

export function createLoginCookies({ keys, clock }: LoginCookiesDeps): LoginCookies {
  return {
    async write(content) {
      const ageMs = validMs[content.kind];
      const stored: z.infer<typeof storedSchema> = {
        content: shortened(content),
        expiresAtMs: clock.now() + ageMs,
      };
      const text = encrypt(JSON.stringify(stored), await newestKey(keys), "login");
      return loginCookie(text, ageMs / 1_000);
    },
    async read(cookie) {
      const text = loginTextOf(cookie);
      if (text === undefined) return undefined;
      const plain = decrypt(text, await keys.get(keyIdOf(text)), "login");
      if (plain === undefined) return undefined;
      const stored = storedSchema.safeParse(JSON.parse(plain)).data;
      return stored === undefined || clock.now() >= stored.expiresAtMs ? undefined : stored.content;
    },
  };
}

function shortened(content: LoginContent): LoginContent {
  if (content.kind === "flow") return content;
  return { ...content, message: cutText(content.message, maxMessageLength) };
}
