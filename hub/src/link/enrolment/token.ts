/** Registration tokens as an enrolment sees them: whether a presented one is valid, and what it grants. Pure. */

import type { ClusterRegistrationToken } from "@flotilla/shared/api";
import { formatTimeMs } from "@flotilla/shared/time";
import { clientDigest } from "../../base/index.ts";
import { expiryOf } from "../registrationtoken/plan.ts";
import { isSameToken } from "../registrationtoken/secret.ts";

/** What a registration token grants to the Clusters that enrol with it. */
export interface TokenTerms {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339, to the second. */
  readonly createdAt: string;
  /** The only Cluster that may enrol with it. */
  readonly clusterName: string | undefined;
  /** Names that the Cluster may have; `undefined`: all that no target waits for. */
  readonly allowedClusterNames: readonly string[] | undefined;
  /** Labels that the Cluster gets, whatever the agent requests. */
  readonly labels: Readonly<Record<string, string>>;
  /** Names of labels that the agent may set; `undefined`: all that are not reserved. */
  readonly allowedLabels: readonly string[] | undefined;
}

export type TokenValidation =
  | { readonly kind: "valid"; readonly token: TokenTerms }
  | { readonly kind: "unknown" }
  | { readonly kind: "expired"; readonly name: string; readonly expiredAt: string };

export interface TokenInput {
  /** By the agent. */
  readonly presented: string;
  /** The one that `presented` claims to be, if it exists. */
  readonly token: ClusterRegistrationToken | undefined;
  /** From that one's Secret; "" if there is none. */
  readonly expected: string;
  /** ms since 1970. */
  readonly now: number;
}

export function validateToken({ presented, token, expected, now }: TokenInput): TokenValidation {
  if (token === undefined || !isSameToken(presented, expected)) return { kind: "unknown" };
  const { name, namespace = "" } = token.metadata;
  const expiry = expiryOf(token);
  if (expiry !== undefined && expiry <= now) {
    const expiredAt = formatTimeMs(expiry);
    return { kind: "expired", name: `${namespace}/${name}`, expiredAt };
  }
  if (token.metadata.deletionTimestamp !== undefined) return { kind: "unknown" };
  return { kind: "valid", token: termsOf(token) };
}

export function termsOf({ metadata, spec }: ClusterRegistrationToken): TokenTerms {
  const { namespace = "", name, uid = "", creationTimestamp = "" } = metadata;
  return {
    namespace,
    name,
    uid,
    createdAt: creationTimestamp,
    clusterName: spec.clusterName || undefined,
    allowedClusterNames: spec.allowedClusterNames ?? undefined,
    labels: spec.labels ?? {},
    allowedLabels: spec.allowedLabels ?? undefined,
  };
}

/** Whether one of the patterns is the name, or a prefix of it that ends in `*`. */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

/** Whether a cluster that enrolled with the token was removed: the client, or the one Cluster that the token is for. */
export function isRemoved({ spec, status }: ClusterRegistrationToken, clientId: string): boolean {
  const removed = status?.removedClients ?? [];
  return spec.clusterName ? removed.length > 0 : removed.includes(clientDigest(clientId));
}
