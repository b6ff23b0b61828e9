/** Which Cluster an agent becomes. Pure. */
import { createHash } from "node:crypto";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";

/** On a Cluster: the digest of the key that its agent enrolled with. */
export const agentKeyAnnotation = "flotilla.dev/agent-key";

export type ClusterChoice =
  | { readonly kind: "create"; readonly name: string }
  /** Enrolled before with this very key. */
  | { readonly kind: "same"; readonly cluster: Cluster }
  /** Made by somebody for this client id, and no agent has enrolled yet. */
  | { readonly kind: "adopt"; readonly cluster: Cluster }
  | { readonly kind: "other-key"; readonly cluster: Cluster }
  | { readonly kind: "going"; readonly cluster: Cluster };

export interface ChoiceInputs {
  readonly clientId: string;
  /** Of the key that the request is signed with. */
  readonly fingerprint: string;
  readonly clusterName: string | undefined;
  /** Those in the token's namespace whose spec has this client id. */
  readonly enrolled: readonly Cluster[];
  /** Whether a Cluster of a name exists in that namespace. */
  readonly isTaken: (name: string) => boolean;
}

export function chooseCluster(inputs: ChoiceInputs): ClusterChoice {
  const { clientId, fingerprint, clusterName, enrolled, isTaken } = inputs;
  const [oldest] = enrolled.toSorted(byAge);
  if (oldest !== undefined) {
    if (oldest.metadata.deletionTimestamp !== undefined) return { kind: "going", cluster: oldest };
    const known = oldest.metadata.annotations?.[agentKeyAnnotation];
    if (known === undefined) return { kind: "adopt", cluster: oldest };
    return { kind: known === fingerprint ? "same" : "other-key", cluster: oldest };
  }
  const wanted = clusterName !== undefined && !isTaken(clusterName) ? clusterName : undefined;
  return { kind: "create", name: wanted ?? nameFor(clientId) };
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
