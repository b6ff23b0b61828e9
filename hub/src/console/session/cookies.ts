/**
 * The cookies of a session: its encrypted text, in as many as it needs, because a browser takes 4 KB for each. And the one of a
 * login that is in progress. Pure.
 */

import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";

/** `__Host-`: browsers take it only from this host, over TLS or on the machine itself, and for all paths. */
const cookieName = "__Host-flotilla-session";
const maxChunks = 3;
const chunkChars = 3_800;
/** No script reads it, no other site sends it. */
const attributes = "Path=/; HttpOnly; Secure; SameSite=Strict";
const loginCookieName = "__Host-flotilla-login";
/** The browser sends it when the OpenID provider redirects it back, which Strict forbids. */
const loginAttributes = "Path=/; HttpOnly; Secure; SameSite=Lax";

/** Values of Set-Cookie that also remove what an earlier session had more, and a login that is over. Throws SESSION_TOO_LARGE. */
export function sessionCookies(text: string, maxAgeSeconds: number): readonly string[] {
  const chunks = Math.ceil(text.length / chunkChars);
  if (chunks > maxChunks)
    throw new AppError(
      hubErrors.SESSION_TOO_LARGE,
      `the token, or the list of groups, is too long for a session: ${text.length} characters when encrypted, of at most ${maxChunks * chunkChars}`,
    );
  const cookies = Array.from({ length: maxChunks }, (_, index) => {
    const chunk = text.slice(index * chunkChars, (index + 1) * chunkChars);
    const age = chunk === "" ? 0 : maxAgeSeconds;
    return `${nameOf(index)}=${chunk}; Max-Age=${age}; ${attributes}`;
  });
  return [...cookies, loginCookie("", 0)];
}

/** Values of Set-Cookie that remove the session. */
export function noSessionCookies(): readonly string[] {
  return sessionCookies("", 0);
}

/** The text of the session in the header Cookie; undefined without one. */
export function sessionTextOf(header: string | undefined): string | undefined {
  const values = valuesIn(header);
  const chunks: string[] = [];
  for (let index = 0; index < maxChunks; index += 1) {
    const chunk = values.get(nameOf(index)) ?? "";
    if (chunk === "") break;
    chunks.push(chunk);
  }
  return chunks.length === 0 ? undefined : chunks.join("");
}

/** A value of Set-Cookie; "" removes the cookie. */
export function loginCookie(text: string, maxAgeSeconds: number): string {
  return `${loginCookieName}=${text}; Max-Age=${text === "" ? 0 : maxAgeSeconds}; ${loginAttributes}`;
}

/** The text of a login in the header Cookie; undefined without one. */
export function loginTextOf(header: string | undefined): string | undefined {
  return valuesIn(header).get(loginCookieName) || undefined;
}

function valuesIn(header: string | undefined): ReadonlyMap<string, string> {
  return new Map(
    (header ?? "").split(";").map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
    }),
  );
}

function nameOf(index: number): string {
  return index === 0 ? cookieName : `${cookieName}-${index}`;
}
