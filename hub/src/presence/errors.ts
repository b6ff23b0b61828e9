/** Errors of recording an agent's presence, and of replicas' Leases. */
import { defineErrors } from "@flotilla/shared/errors";

export const presenceErrors = defineErrors({
  CLUSTER_GONE: {
    retryable: true,
    help: "The Cluster was deleted, or created again under the same name, while its agent connected. Enrol the cluster again.",
  },
  CLUSTER_CONFLICT: {
    retryable: true,
    help: "Writes of a Cluster's status had conflicts too often in a row. The hub retries.",
  },
  REPLICA_LEASE_EXPIRED: {
    retryable: true,
    help: "A replica of the hub could not renew its Lease, so it does not serve agents until it can; they connect to another replica. Check that the replica reaches the hub's API server and may write Leases in its namespace.",
  },
  REPLICA_NAME_CONFLICT: {
    retryable: true,
    help: "Two processes use the Lease of one replica of the hub. Give each replica a name of its own (`--replica`).",
  },
});
