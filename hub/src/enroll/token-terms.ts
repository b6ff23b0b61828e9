/** What a registration token says of the Clusters that enrol with it. Pure. */
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { clientDigest } from "../clusterstate/cluster-namespace.ts";

export interface TokenTerms {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339, to the second. */
  readonly createdAt: string;
  /** The one Cluster that it is for. */
  readonly clusterName: string | undefined;
  /** Labels that the Cluster gets, whatever the agent asks for. */
  readonly labels: Readonly<Record<string, string>>;
  /** Names of labels that the agent may give; `undefined` stands for all that are not reserved. */
  readonly allowedLabels: readonly string[] | undefined;
}

export function termsOf({ metadata, spec }: ClusterRegistrationToken): TokenTerms {
  const { namespace = "", name, uid = "", creationTimestamp = "" } = metadata;
  return {
    namespace,
    name,
    uid,
    createdAt: creationTimestamp,
    clusterName: spec.clusterName || undefined,
    labels: spec.labels ?? {},
    allowedLabels: spec.allowedLabels ?? undefined,
  };
}

/** Whether a cluster that enrolled with the token was removed: it, or the one that the token was made for. */
export function isRemoved({ spec, status }: ClusterRegistrationToken, clientId: string): boolean {
  const removed = status?.removedClients ?? [];
  return spec.clusterName ? removed.length > 0 : removed.includes(clientDigest(clientId));
}
