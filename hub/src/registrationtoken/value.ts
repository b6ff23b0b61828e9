/**
 * A token as agents carry it: the UID of its ClusterRegistrationToken, by which it is found, and a secret part. Finding
 * it by a part that is no secret means that the secret is compared once, in constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const secretBytes = 32;

export function makeTokenValue(uid: string): string {
  return `${uid}.${randomBytes(secretBytes).toString("base64url")}`;
}

/** The UID of the ClusterRegistrationToken that a token claims to be of; `undefined` when it has not that form. */
export function claimedUid(token: string): string | undefined {
  const dot = token.indexOf(".");
  return dot <= 0 || dot === token.length - 1 ? undefined : token.slice(0, dot);
}

/** Takes the same time whatever the two have in common. */
export function isSameToken(presented: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(presented), digest(expected)) && expected !== "";
}
