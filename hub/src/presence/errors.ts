/** What can go wrong while the coming and going of an agent is written down. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const presenceErrors = defineErrors({
  CLUSTER_GONE: {
    retryable: true,
    help: "The Cluster was deleted, or made anew under the same name, while its agent connected. Enrol the cluster again.",
  },
  CLUSTER_CONFLICT: {
    retryable: true,
    help: "The status of a Cluster was changed by others again and again while the hub tried to write it. It is tried again by itself.",
  },
  REPLICA_LEASE_EXPIRED: {
    retryable: true,
    help: "A replica of the hub could not renew its Lease, so that nobody counts on it. It answers agents again once it can; they try another replica by themselves. See whether it reaches the hub's API server and may write Leases in its namespace.",
  },
  REPLICA_NAME_CONFLICT: {
    retryable: true,
    help: "Two processes wrote the Lease of one replica of the hub at the same time. Give each replica a name of its own (`--replica`).",
  },
});
