/**
 * The value of a token: the UID of its ClusterRegistrationToken, and a secret part. The UID finds the token, so the secret part
 * is compared once, in constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const secretBytes = 32;

export function makeTokenValue(uid: string): string {
  return `${uid}.${randomBytes(secretBytes).toString("base64url")}`;
}

/** The UID of the ClusterRegistrationToken that a value claims; `undefined` when it is malformed. */
export function claimedUid(token: string): string | undefined {
  const dot = token.indexOf(".");
  return dot <= 0 || dot === token.length - 1 ? undefined : token.slice(0, dot);
}

/** In constant time. */
export function isSameToken(presented: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(presented), digest(expected)) && expected !== "";
}
