/** Indexes that find an enrolling agent without a pass over all Clusters. */

import type { Bundle, Cluster, ClusterRegistrationToken, HelmOp } from "@flotilla/shared/api";
import { agentKeyAnnotation, registrationTokenAnnotation } from "@flotilla/shared/api/names";
import { defineIndex, type Index } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";

export const clientIdIndex: Index<Cluster> = defineIndex("clientId", ({ metadata, spec }) =>
  spec.clientID ? [clientIdKey(metadata.namespace ?? "", spec.clientID)] : [],
);
/** By the client id, in any namespace. */
export const anyClientIdIndex: Index<Cluster> = defineIndex("any clientId", ({ spec }) =>
  spec.clientID ? [spec.clientID] : [],
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

/** HelmOps and Bundles by the keys of the Clusters that their targets name. */
export const byNamedCluster: Index<HelmOp | Bundle> = defineIndex(
  "named cluster",
  ({ metadata, spec }) => [
    ...new Set(
      (spec.targets ?? []).flatMap(({ clusterName }) =>
        clusterName ? [keyOf({ namespace: metadata.namespace ?? "", name: clusterName })] : [],
      ),
    ),
  ],
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
