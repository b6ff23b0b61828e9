/** Errors between replicas of the hub. */
import { defineErrors } from "@flotilla/shared/errors";

export const linkErrors = defineErrors({
  REPLICA_UNREACHABLE: {
    retryable: true,
    help: "The replica of the hub that the agent is connected to does not answer on its internal port (`--replica-listen`, in the chart `internal.replicaPort`). Check that the NetworkPolicies let the replicas reach each other, and that all of them have this version. Retry.",
  },
});
