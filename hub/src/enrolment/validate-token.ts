/** Whether a registration token that an agent shows is good. Pure. */
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { expiryOf } from "../registrationtoken/plan.ts";
import { isSameToken } from "../registrationtoken/value.ts";
import { type TokenTerms, termsOf } from "./token-terms.ts";

export type TokenValidation =
  | { readonly kind: "good"; readonly token: TokenTerms }
  | { readonly kind: "unknown" }
  | { readonly kind: "ended"; readonly name: string; readonly endedAt: string };

export interface TokenInput {
  /** What the agent shows. */
  readonly presented: string;
  /** The one that it claims to be of, where there is one. */
  readonly token: ClusterRegistrationToken | undefined;
  /** What that one's Secret holds; "" where there is none. */
  readonly expected: string;
  /** ms since 1970. */
  readonly now: number;
}

export function validateToken({ presented, token, expected, now }: TokenInput): TokenValidation {
  if (token === undefined || !isSameToken(presented, expected)) return { kind: "unknown" };
  const { name, namespace = "" } = token.metadata;
  const endsAt = expiryOf(token);
  if (endsAt !== undefined && endsAt <= now) {
    return { kind: "ended", name: `${namespace}/${name}`, endedAt: new Date(endsAt).toISOString() };
  }
  if (token.metadata.deletionTimestamp !== undefined) return { kind: "unknown" };
  return { kind: "good", token: termsOf(token) };
}
