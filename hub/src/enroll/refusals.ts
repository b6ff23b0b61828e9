/** Why an agent does not become the Cluster that it would be: in words for it, and for whoever looks at the Cluster. Pure. */
import { newKeyRequiredTrailers } from "@flotilla/proto/trailers.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { unreachable } from "@flotilla/shared/errors/app-error.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { status } from "@grpc/grpc-js";
import { RpcError } from "../serve/errors.ts";
import type { RefusedChoice } from "./choose-cluster.ts";
import { enrollErrors } from "./errors.ts";
import { revocationOf, revokedSentence } from "./revocation.ts";
import type { TokenTerms } from "./token-terms.ts";

export interface Refusal {
  readonly answer: RpcError;
  /** For an Event on the Cluster, where somebody has to know. */
  readonly note?: string;
}

interface Refused {
  readonly cluster: Cluster;
  readonly clientId: string;
  readonly token: TokenTerms | undefined;
}

export function refusalOf(why: RefusedChoice, { cluster, clientId, token }: Refused): Refusal {
  const name = keyOf(cluster);
  const madeForIt = `make a ClusterRegistrationToken with spec.clusterName: ${cluster.metadata.name} and put the content of its Secret into that agent's bootstrap Secret`;
  switch (why) {
    case "other-key":
      return {
        answer: denied(
          `client id ${clientId} is enrolled as Cluster ${name} with another key; if this is that cluster and its key is lost, ${madeForIt}; else give this cluster a clientID of its own there`,
        ),
        note: `an agent with client id ${clientId} asked to be enrolled with another key than the one that this cluster is enrolled with, and was refused; to let it take this cluster's place, ${madeForIt}`,
      };
    case "enrolled-elsewhere":
      return {
        answer: denied(
          `the registration token ${token?.name ?? ""} is for Cluster ${token?.clusterName ?? ""} alone, and client id ${clientId} is enrolled as Cluster ${name}; delete that one first, or give this cluster a clientID of its own in its bootstrap Secret`,
        ),
      };
    case "going":
      return {
        answer: new RpcError(
          status.UNAVAILABLE,
          enrollErrors.ENROLMENT_REFUSED,
          `Cluster ${name} of client id ${clientId} is being deleted; it can be enrolled anew once that is done`,
        ),
      };
    case "revoked": {
      const since = revokedSince(cluster);
      const shown =
        token === undefined
          ? ""
          : `, and the registration token ${token.name} was made before, at ${token.createdAt}`;
      return {
        answer: denied(
          `${since}${shown}; only a ClusterRegistrationToken that is made after that enrols it again`,
        ),
        note: `an agent with client id ${clientId} asked to be enrolled as this cluster, which was revoked, and was refused; to have it back, make a new ClusterRegistrationToken and put the content of its Secret into the agent's bootstrap Secret`,
      };
    }
    case "revoked-key":
      return {
        answer: denied(
          `${revokedSince(cluster)}, and its key with it; the token is good, and the agent has to come with a new key: it makes one by itself, an older one does once its Secret flotilla-agent/flotilla-identity is deleted`,
          true,
        ),
      };
    default:
      return unreachable(why);
  }
}

function revokedSince(cluster: Cluster): string {
  const revocation = revocationOf(cluster);
  return revocation === undefined ? "" : revokedSentence(keyOf(cluster), revocation);
}

function denied(message: string, needsNewKey = false): RpcError {
  return new RpcError(status.PERMISSION_DENIED, enrollErrors.ENROLMENT_REFUSED, message, {
    ...(needsNewKey && { trailers: newKeyRequiredTrailers() }),
  });
}
