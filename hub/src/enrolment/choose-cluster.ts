/** Chooses the Cluster that an enrolling agent is registered as. Pure. */
import { createHash } from "node:crypto";
import type { Cluster } from "@flotilla/shared/api";
import { agentKeyAnnotation } from "@flotilla/shared/api/names";
import { createdAtOf, isBeingEmptied, revocationOf } from "../clusterstate/index.ts";
import type { TokenTerms } from "./token.ts";

export type ClusterChoice =
  | { readonly kind: "create"; readonly name: string }
  /** Enrolled before with the same key. */
  | { readonly kind: "same"; readonly cluster: Cluster }
  /** Created by a user for this client id or for the token; no agent has enrolled yet. */
  | { readonly kind: "adopt"; readonly cluster: Cluster }
  /** Enrolled with another key, which this one may replace. */
  | { readonly kind: "take-over"; readonly cluster: Cluster }
  | { readonly kind: "rejected"; readonly cluster: Cluster; readonly why: RejectionReason };

export type RejectionReason =
  | "other-key"
  | "deleting"
  /** The token is for one Cluster, and the client id is enrolled as another. */
  | "enrolled-elsewhere"
  /** The cluster was revoked, and the token is no newer than that. */
  | "revoked"
  /** The token is new enough, but the key is the revoked one. */
  | "revoked-key";

export interface ChoiceInputs {
  readonly clientId: string;
  /** Of the key that signed the request. */
  readonly fingerprint: string;
  readonly clusterName: string | undefined;
  /** `undefined` where the key alone authorizes the enrolment. */
  readonly token: TokenTerms | undefined;
  /** Those in the token's namespace whose spec has this client id. */
  readonly enrolled: readonly Cluster[];
  /** The Cluster of a name in that namespace. */
  readonly named: (name: string) => Cluster | undefined;
}

export function chooseCluster(inputs: ChoiceInputs): ClusterChoice {
  const { clientId, clusterName, token, named } = inputs;
  const [oldest] = inputs.enrolled.toSorted(byAge);
  const madeFor = token?.clusterName;
  if (madeFor !== undefined) {
    if (oldest !== undefined && oldest.metadata.name !== madeFor)
      return { kind: "rejected", cluster: oldest, why: "enrolled-elsewhere" };
    const cluster = named(madeFor);
    return cluster === undefined ? { kind: "create", name: madeFor } : enrolAs(cluster, inputs);
  }
  if (oldest !== undefined) return enrolAs(oldest, inputs);
  const isFree = clusterName !== undefined && named(clusterName) === undefined;
  return { kind: "create", name: isFree ? clusterName : nameFor(clientId) };
}

/** As an existing Cluster. */
function enrolAs(cluster: Cluster, { fingerprint, token }: ChoiceInputs): ClusterChoice {
  const known = cluster.metadata.annotations?.[agentKeyAnnotation];
  const revocation = revocationOf(cluster);
  const isKnown = known === fingerprint;
  const rejected = (why: RejectionReason): ClusterChoice => ({ kind: "rejected", cluster, why });
  if (cluster.metadata.deletionTimestamp !== undefined) {
    // Its agent is needed to uninstall, also when its certificate has expired.
    const isNeeded = isBeingEmptied(cluster) && isKnown && revocation === undefined;
    return isNeeded ? { kind: "same", cluster } : rejected("deleting");
  }
  if (revocation !== undefined) {
    const isNewer = token !== undefined && createdAtOf(token) >= revocation.at;
    if (!isNewer) return rejected("revoked");
    return isKnown ? rejected("revoked-key") : { kind: "take-over", cluster };
  }
  if (known === undefined) return { kind: "adopt", cluster };
  if (isKnown) return { kind: "same", cluster };
  return token?.clusterName === undefined ? rejected("other-key") : { kind: "take-over", cluster };
}

/** The name of a cluster that requests none, or one that is taken. As Fleet names it. */
export function nameFor(clientId: string): string {
  return `cluster-${createHash("sha256").update(clientId).digest("hex").slice(0, 12)}`;
}

/** Oldest first; within one second by name. */
function byAge(a: Cluster, b: Cluster): number {
  const key = ({ metadata }: Cluster) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return key(a) < key(b) ? -1 : 1;
}
