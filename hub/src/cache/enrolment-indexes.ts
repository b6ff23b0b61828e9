/** Indexes that find an enrolling agent without a pass over all Clusters. */

import type { Cluster, ClusterRegistrationToken } from "@flotilla/shared/api";
import { agentKeyAnnotation, registrationTokenAnnotation } from "@flotilla/shared/api/names";
import { defineIndex, type Index } from "@flotilla/shared/kube/cache";

export const clientIdIndex: Index<Cluster> = defineIndex("clientId", ({ metadata, spec }) =>
  spec.clientID ? [clientIdKey(metadata.namespace ?? "", spec.clientID)] : [],
);
/** By the digest of the key that the agent enrolled with. */
export const agentKeyIndex: Index<Cluster> = defineIndex("agentKey", annotated(agentKeyAnnotation));
/** By the UID of the token that the agent enrolled with last. */
export const enrolledWithIndex: Index<Cluster> = defineIndex(
  "enrolledWith",
  annotated(registrationTokenAnnotation),
);
export const tokenUidIndex: Index<ClusterRegistrationToken> = defineIndex("uid", ({ metadata }) =>
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
