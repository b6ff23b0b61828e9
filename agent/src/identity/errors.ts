/** What can go wrong between an agent and its identity. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const agentIdentityErrors = defineErrors({
  BOOTSTRAP_MISSING: {
    retryable: true,
    help: "The agent has no identity yet and nothing to get one with. Put the content of the Secret of a ClusterRegistrationToken on the hub into the Secret flotilla-agent/flotilla-bootstrap of this cluster.",
  },
  BOOTSTRAP_INVALID: {
    retryable: true,
    help: "The Secret flotilla-agent/flotilla-bootstrap cannot be used. The message names the key and says what is expected; copy the Secret of a ClusterRegistrationToken on the hub once more.",
  },
  IDENTITY_INVALID: {
    retryable: true,
    help: "The Secret flotilla-agent/flotilla-identity cannot be read. Restore it, or delete it so that the agent enrols with a new key; that takes a ClusterRegistrationToken that is made for its Cluster (spec.clusterName).",
  },
  ENROLMENT_FAILED: {
    retryable: true,
    help: "The hub could not be reached, or it refused to enrol this cluster. The message has the hub's own words. It is tried again by itself.",
  },
});
