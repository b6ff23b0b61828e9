/** Indexes that find an enrolling agent without a pass over all Clusters. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { agentKeyAnnotation, registrationTokenAnnotation } from "@flotilla/shared/api/names.ts";
import { defineIndex } from "@flotilla/shared/kube/cache/object-index.ts";

export const clientIdIndex = defineIndex<Cluster>("clientId", ({ metadata, spec }) =>
  spec.clientID ? [clientIdKey(metadata.namespace ?? "", spec.clientID)] : [],
);
/** By the digest of the key that the agent enrolled with. */
export const agentKeyIndex = defineIndex<Cluster>("agentKey", annotated(agentKeyAnnotation));
/** By the UID of the token that the agent enrolled with last. */
export const enrolledWithIndex = defineIndex<Cluster>(
  "enrolledWith",
  annotated(registrationTokenAnnotation),
);
export const tokenUidIndex = defineIndex<ClusterRegistrationToken>("uid", ({ metadata }) =>
  metadata.uid === undefined ? [] : [metadata.uid],
);

export function clientIdKey(namespace: string, clientId: string): string {
  return `${namespace}/${clientId}`;
}

function annotated(annotation: string): (cluster: Cluster) => readonly string[] {
  return ({ metadata }) => {
    const value = metadata.annotations?.[annotation];
    return value === undefined ? [] : [value];
  };
}
