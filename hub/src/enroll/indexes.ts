/** Indexes that the informers of the hub need so that an agent that enrols is found without going through all. */

import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { agentKeyAnnotation, registrationTokenAnnotation } from "@flotilla/shared/api/names.ts";
import type { Indexers } from "@flotilla/shared/kube/cache/store.ts";

export const clientIdIndex = "clientId";
/** By the digest of the key that the agent enrolled with. */
export const agentKeyIndex = "agentKey";
/** By the UID of the token that the agent enrolled with last. */
export const enrolledWithIndex = "enrolledWith";
export const tokenUidIndex = "uid";

export const clusterIndexers: Indexers<Cluster> = {
  [clientIdIndex]: ({ metadata, spec }) =>
    spec.clientID ? [clientIdKey(metadata.namespace ?? "", spec.clientID)] : [],
  [agentKeyIndex]: annotated(agentKeyAnnotation),
  [enrolledWithIndex]: annotated(registrationTokenAnnotation),
};

export const tokenIndexers: Indexers<ClusterRegistrationToken> = {
  [tokenUidIndex]: ({ metadata }) => (metadata.uid === undefined ? [] : [metadata.uid]),
};

export function clientIdKey(namespace: string, clientId: string): string {
  return `${namespace}/${clientId}`;
}

function annotated(annotation: string): (cluster: Cluster) => readonly string[] {
  return ({ metadata }) => {
    const value = metadata.annotations?.[annotation];
    return value === undefined ? [] : [value];
  };
}
