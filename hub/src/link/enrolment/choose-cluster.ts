/** Chooses the Cluster that an enrolling agent is registered as. Pure. */
import { createHash } from "node:crypto";
import { type Cluster, isManagedElsewhere } from "@flotilla/shared/api";
import { agentKeyAnnotation } from "@flotilla/shared/api/names";
import { createdAtOf, isBeingEmptied, revocationOf } from "../../base/index.ts";
import { matchesAny, type TokenTerms } from "./token.ts";

export type ClusterChoice =
  | {
      readonly kind: "create";
      readonly name: string;
      /** Why it has not the name that the agent requested. */
      readonly instead?: "taken" | "awaited";
    }
  /** Enrolled before with the same key. */
  | { readonly kind: "same"; readonly cluster: Cluster }
  /** Created by a user for this client id or for the token; no agent has enrolled yet. */
  | { readonly kind: "adopt"; readonly cluster: Cluster }
  /** Enrolled with another key, which this one may replace. */
  | { readonly kind: "take-over"; readonly cluster: Cluster }
  | { readonly kind: "rejected"; readonly cluster: Cluster; readonly why: RejectionReason }
  /** The token does not allow this name. */
  | { readonly kind: "name-rejected"; readonly name: string };

export type RejectionReason =
  | "other-key"
  | "deleting"
  | "managed-elsewhere"
  /** The token is for one Cluster, and the client id is enrolled as another. */
  | "enrolled-elsewhere"
  /** The cluster was revoked, and the token is not newer than that. */
  | "revoked"
  /** The token is new enough, but the key is the revoked one. */
  | "revoked-key";

export interface ChoiceInputs {
  readonly clientId: string;
  /** The fingerprint of the key that signed the request. */
  readonly fingerprint: string;
  readonly clusterName: string | undefined;
  /** `undefined` where the key alone authorizes the enrolment. */
  readonly token: TokenTerms | undefined;
  /** Those in the token's namespace whose spec has this client id. */
  readonly enrolled: readonly Cluster[];
  /** The Cluster of a name in that namespace. */
  readonly named: (name: string) => Cluster | undefined;
  /**
   * Whether a HelmOp or Bundle there names a Cluster of this name in a target. Such a Cluster gets what was meant for another
   * one, so a token has to allow the name.
   */
  readonly isAwaited: (name: string) => boolean;
}

export function chooseCluster(inputs: ChoiceInputs): ClusterChoice {
  const { token, named } = inputs;
  const [oldest] = inputs.enrolled.toSorted(byAge);
  const madeFor = token?.clusterName;
  if (madeFor !== undefined) {
    if (oldest !== undefined && oldest.metadata.name !== madeFor)
      return { kind: "rejected", cluster: oldest, why: "enrolled-elsewhere" };
    const cluster = named(madeFor);
    return cluster === undefined ? { kind: "create", name: madeFor } : enrolAs(cluster, inputs);
  }
  const choice = oldest === undefined ? newCluster(inputs) : enrolAs(oldest, inputs);
  return rejectName(choice, token?.allowedClusterNames) ?? choice;
}

function newCluster({
  clientId,
  clusterName,
  token,
  named,
  isAwaited,
}: ChoiceInputs): Extract<ClusterChoice, { kind: "create" | "name-rejected" }> {
  const fallback = nameFor(clientId);
  if (clusterName === undefined) return { kind: "create", name: fallback };
  const allowed = token?.allowedClusterNames;
  if (allowed !== undefined && !matchesAny(clusterName, allowed))
    return { kind: "name-rejected", name: clusterName };
  if (named(clusterName) !== undefined) return { kind: "create", name: fallback, instead: "taken" };
  return allowed === undefined && isAwaited(clusterName)
    ? { kind: "create", name: fallback, instead: "awaited" }
    : { kind: "create", name: clusterName };
}

/** Also a name that the hub chose, or the name of a Cluster which is enrolled for the first time or with another key. */
function rejectName(
  choice: ClusterChoice,
  allowed: readonly string[] | undefined,
): ClusterChoice | undefined {
  if (allowed === undefined) return undefined;
  switch (choice.kind) {
    case "create":
      return matchesAny(choice.name, allowed)
        ? undefined
        : { kind: "name-rejected", name: choice.name };
    case "adopt":
    case "take-over": {
      const { name } = choice.cluster.metadata;
      return matchesAny(name, allowed) ? undefined : { kind: "name-rejected", name };
    }
    default:
      return undefined;
  }
}

/** As an existing Cluster. */
function enrolAs(cluster: Cluster, { fingerprint, token }: ChoiceInputs): ClusterChoice {
  const known = cluster.metadata.annotations?.[agentKeyAnnotation];
  const revocation = revocationOf(cluster);
  const isKnown = known === fingerprint;
  const rejected = (why: RejectionReason): ClusterChoice => ({ kind: "rejected", cluster, why });
  if (isManagedElsewhere(cluster)) return rejected("managed-elsewhere");
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
