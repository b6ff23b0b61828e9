/** Errors of enrolment. */
import { defineErrors } from "@flotilla/shared/errors";
import { status } from "@grpc/grpc-js";
import { RpcError } from "../rpc/index.ts";

export const enrollErrors = defineErrors({
  TOKEN_REJECTED: {
    retryable: true,
    help: "The registration token is unknown to the hub or expired, or the cluster that enrolled with it was deleted. Create a new ClusterRegistrationToken on the hub and copy the content of its Secret into the Secret flotilla-agent/flotilla-bootstrap of the cluster.",
  },
  ENROLMENT_REJECTED: {
    retryable: true,
    help: "A cluster with this client id is enrolled with another key, or was revoked. If it is the same cluster and its key is lost, create a ClusterRegistrationToken for that Cluster (spec.clusterName); if it was revoked, create a new token; if it is another cluster, give it a client id of its own. See docs/enrolment.md.",
  },
  ENROLMENT_INVALID: {
    retryable: false,
    help: "The agent requested a name, a label or another field that Kubernetes does not allow on a Cluster. The message names it.",
  },
  ENROLMENT_RATE_LIMITED: {
    retryable: true,
    help: "More agents enrol than the hub handles at once, or one retries with an invalid token too often. The agent backs off and retries.",
  },
});

export function enrolmentRateLimited(): RpcError {
  const message = "too many enrolments at the moment; back off before the next attempt";
  return new RpcError(status.RESOURCE_EXHAUSTED, enrollErrors.ENROLMENT_RATE_LIMITED, message);
}
