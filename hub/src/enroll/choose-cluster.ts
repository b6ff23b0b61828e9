/** Which Cluster an agent becomes. Pure. */
import { createHash } from "node:crypto";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { agentKeyAnnotation } from "@flotilla/shared/api/names.ts";
import { isBeingEmptied } from "../clusterstate/deletion.ts";
import { createdAtOf, revocationOf } from "../clusterstate/revocation.ts";
import type { TokenTerms } from "./token-terms.ts";

export type ClusterChoice =
  | { readonly kind: "create"; readonly name: string }
  /** Enrolled before with this very key. */
  | { readonly kind: "same"; readonly cluster: Cluster }
  /** Made by somebody for this client id or for the token, and no agent has enrolled yet. */
  | { readonly kind: "adopt"; readonly cluster: Cluster }
  /** Enrolled with another key, whose place this one may take. */
  | { readonly kind: "take-over"; readonly cluster: Cluster }
  | { readonly kind: "refused"; readonly cluster: Cluster; readonly why: RefusedChoice };

export type RefusedChoice =
  | "other-key"
  | "going"
  /** The token is for one Cluster, and the client id is enrolled as another. */
  | "enrolled-elsewhere"
  /** The cluster was revoked, and the token is no newer than that. */
  | "revoked"
  /** The token would do, but the key is the one that was revoked. */
  | "revoked-key";

export interface ChoiceInputs {
  readonly clientId: string;
  /** Of the key that the request is signed with. */
  readonly fingerprint: string;
  readonly clusterName: string | undefined;
  /** Of the token that the agent has shown; `undefined` where its key alone has opened the door. */
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
      return { kind: "refused", cluster: oldest, why: "enrolled-elsewhere" };
    const cluster = named(madeFor);
    return cluster === undefined ? { kind: "create", name: madeFor } : enrolAs(cluster, inputs);
  }
  if (oldest !== undefined) return enrolAs(oldest, inputs);
  const isFree = clusterName !== undefined && named(clusterName) === undefined;
  return { kind: "create", name: isFree ? clusterName : nameFor(clientId) };
}

/** As a Cluster that is there. */
function enrolAs(cluster: Cluster, { fingerprint, token }: ChoiceInputs): ClusterChoice {
  const known = cluster.metadata.annotations?.[agentKeyAnnotation];
  const revocation = revocationOf(cluster);
  const isKnown = known === fingerprint;
  const refused = (why: RefusedChoice): ClusterChoice => ({ kind: "refused", cluster, why });
  if (cluster.metadata.deletionTimestamp !== undefined) {
    // Its agent is waited for, also when its certificate has ended meanwhile.
    const isAwaited = isBeingEmptied(cluster) && isKnown && revocation === undefined;
    return isAwaited ? { kind: "same", cluster } : refused("going");
  }
  if (revocation !== undefined) {
    const isNewer = token !== undefined && createdAtOf(token) >= revocation.at;
    if (!isNewer) return refused("revoked");
    return isKnown ? refused("revoked-key") : { kind: "take-over", cluster };
  }
  if (known === undefined) return { kind: "adopt", cluster };
  if (isKnown) return { kind: "same", cluster };
  return token?.clusterName === undefined ? refused("other-key") : { kind: "take-over", cluster };
}

/** The name of a cluster that asks for none, or for one that is taken. As Fleet names it. */
export function nameFor(clientId: string): string {
  return `cluster-${createHash("sha256").update(clientId).digest("hex").slice(0, 12)}`;
}

/** The oldest first; of the same second the first by name. */
function byAge(a: Cluster, b: Cluster): number {
  const key = ({ metadata }: Cluster) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return key(a) < key(b) ? -1 : 1;
}
