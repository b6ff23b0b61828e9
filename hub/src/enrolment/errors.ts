/** Why a cluster is not enrolled. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";
import { status } from "@grpc/grpc-js";
import { RpcError } from "../rpc/errors.ts";

export const enrollErrors = defineErrors({
  TOKEN_REFUSED: {
    retryable: true,
    help: "The registration token is unknown to the hub, has ended, or is of a cluster that was deleted since. Make a new ClusterRegistrationToken on the hub and put the content of its Secret into the Secret flotilla-agent/flotilla-bootstrap of the cluster.",
  },
  ENROLMENT_REFUSED: {
    retryable: true,
    help: "A cluster with this client id is enrolled already, with another key, or it was revoked. If it is the same cluster and its key is lost, make a ClusterRegistrationToken for that Cluster (spec.clusterName); if it was revoked, make a new token; if it is another cluster, give it a client id of its own. docs/enrolment.md has each of these step by step.",
  },
  ENROLMENT_INVALID: {
    retryable: false,
    help: "The agent asked for something that no Cluster can have, such as a name or a label that Kubernetes does not allow. The message names it.",
  },
  TOO_MANY_ENROLMENTS: {
    retryable: true,
    help: "More agents ask to be enrolled than the hub handles at once, or one asks again and again with a wrong token. The agent waits and tries again by itself.",
  },
});

/** Whoever is sent away with it may come again in a moment. */
export function tooManyEnrolments(): RpcError {
  const message = "too many enrolments at the moment; wait and try again";
  return new RpcError(status.RESOURCE_EXHAUSTED, enrollErrors.TOO_MANY_ENROLMENTS, message);
}
