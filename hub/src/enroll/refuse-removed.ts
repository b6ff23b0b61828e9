/**
 * A cluster whose Cluster was deleted comes back with a new token alone. What is left of it, its namespace on the hub, tells
 * its token so before it goes; so one of the two always knows, and the API server itself is asked for both, in that order.
 */
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { clusterRegistrationTokens } from "@flotilla/shared/api/resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { namespaces } from "@flotilla/shared/kube/objects/core-resources.ts";
import { status } from "@grpc/grpc-js";
import { removedClientOf } from "../cluster/house.ts";
import { clientDigest } from "../registration-token/removed-clients.ts";
import { RpcError } from "../serve/errors.ts";
import { enrollErrors } from "./errors.ts";
import { isRemoved, type TokenTerms } from "./token-terms.ts";

export interface NewCluster {
  readonly name: string;
  readonly clientId: string;
  readonly token: TokenTerms;
}

/** Throws an RpcError when the Cluster that is about to be made was there before and enrolled with this very token. */
export async function refuseRemoved(
  rest: Pick<KubeRest, "get">,
  { name, clientId, token }: NewCluster,
): Promise<void> {
  const { namespace } = token;
  const house = await rest.get(namespaces, { name: clusterNamespaceName(namespace, name) });
  const left = house && removedClientOf(house);
  const isLeft =
    left?.token === token.uid &&
    (left.client === clientDigest(clientId) || token.clusterName !== undefined);
  const stored = await rest.get(clusterRegistrationTokens, { namespace, name: token.name });
  if (stored?.metadata.uid !== token.uid)
    throw refused(`the registration token ${token.name} was deleted`);
  if (isLeft || isRemoved(stored, clientId))
    throw refused(
      `the Cluster that client id ${clientId} was enrolled as was deleted, and the registration token ${token.name} that it enrolled with does not bring it back`,
    );
}

function refused(why: string): RpcError {
  return new RpcError(
    status.UNAUTHENTICATED,
    enrollErrors.TOKEN_REFUSED,
    `${why}; make a new ClusterRegistrationToken on the hub and put the content of its Secret into the agent's bootstrap Secret`,
  );
}
