/**
 * A cluster whose Cluster was deleted needs a new token to enrol again. The removed client is recorded in the cluster namespace,
 * and in the token before that namespace is deleted. So one of the two always has it; both are read from the API server, in
 * that order.
 */

import { clusterRegistrationTokens } from "@flotilla/shared/api";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type Namespace, namespaces } from "@flotilla/shared/kube/objects";
import { status } from "@grpc/grpc-js";
import {
  clientDigest,
  clusterKeyOfNamespace,
  clusterNamespaceNames,
  hubErrors,
  removedClientOf,
} from "../../base/index.ts";
import { RpcError } from "../rpc/errors.ts";
import { isRemoved, type TokenTerms } from "./token.ts";

export interface NewCluster {
  readonly name: string;
  readonly clientId: string;
  readonly token: TokenTerms;
}

/** Throws TOKEN_REJECTED when the Cluster to be created existed before and enrolled with the same token. */
export async function rejectRemovedCluster(
  rest: Pick<KubeRest, "get">,
  { name, clientId, token }: NewCluster,
): Promise<void> {
  const { namespace } = token;
  const clusterNamespace = await namespaceOf(rest, namespace, name);
  const removed = clusterNamespace && removedClientOf(clusterNamespace);
  const isRecorded =
    removed?.token === token.uid &&
    (removed.client === clientDigest(clientId) || token.clusterName !== undefined);
  const stored = await rest.get(clusterRegistrationTokens, { namespace, name: token.name });
  if (stored?.metadata.uid !== token.uid)
    throw rejected(`the registration token ${token.name} was deleted`);
  if (isRecorded || isRemoved(stored, clientId))
    throw rejected(
      `the Cluster of client id ${clientId} was deleted, and the registration token ${token.name} that it enrolled with cannot enrol it again`,
    );
}

/** The namespace that an earlier Cluster of this name has left. */
async function namespaceOf(
  rest: Pick<KubeRest, "get">,
  workspace: string,
  cluster: string,
): Promise<Namespace | undefined> {
  for (const name of clusterNamespaceNames(workspace, cluster)) {
    const found = await rest.get(namespaces, { name });
    if (found && clusterKeyOfNamespace(found) === keyOf({ namespace: workspace, name: cluster }))
      return found;
  }
  return undefined;
}

function rejected(why: string): RpcError {
  return new RpcError(
    status.UNAUTHENTICATED,
    hubErrors.TOKEN_REJECTED,
    `${why}; create a new ClusterRegistrationToken on the hub and copy the content of its Secret into the agent's bootstrap Secret`,
  );
}
