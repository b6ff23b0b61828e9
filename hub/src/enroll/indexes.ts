/** Indexes that the informers of the hub need so that an agent that enrols is found without going through all. */

import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import type { Indexers } from "@flotilla/shared/kube/store.ts";
import { agentKeyAnnotation } from "./choose-cluster.ts";

export const clientIdIndex = "clientId";
/** By the digest of the key that the agent enrolled with. */
export const agentKeyIndex = "agentKey";
export const tokenUidIndex = "uid";

export const clusterIndexers: Indexers<Cluster> = {
  [clientIdIndex]: ({ metadata, spec }) =>
    spec.clientID ? [clientIdKey(metadata.namespace ?? "", spec.clientID)] : [],
  [agentKeyIndex]: ({ metadata }) => {
    const key = metadata.annotations?.[agentKeyAnnotation];
    return key === undefined ? [] : [key];
  },
};

export const tokenIndexers: Indexers<ClusterRegistrationToken> = {
  [tokenUidIndex]: ({ metadata }) => (metadata.uid === undefined ? [] : [metadata.uid]),
};

export function clientIdKey(namespace: string, clientId: string): string {
  return `${namespace}/${clientId}`;
}
