/** Errors of requests of users to agents: of `flotilla logs`, for one. */
import { defineErrors } from "@flotilla/shared/errors";

export const requestErrors = defineErrors({
  REQUEST_INVALID: {
    retryable: false,
    help: "The hub does not understand a request to an agent. The message has the part of its address. Use a `flotilla` command line of the hub's version.",
  },
  REQUEST_UNAUTHENTICATED: {
    retryable: false,
    help: "A request to an agent had no token, or one that the API server of the hub does not accept for it. The token must be one of a ServiceAccount of the hub's cluster, with the audience `flotilla-requests`.",
  },
  REQUEST_FORBIDDEN: {
    retryable: false,
    help: "The account may not read that of the deployments of the workspace. Grant it `get` on the subresource of `bundledeployments` that the message names (`log`, `diff`, `history`, `resources` or `events`), of the API group `fleet.cattle.io` in the workspace.",
  },
  REQUEST_TARGET_NOT_FOUND: {
    retryable: false,
    help: "The workspace has no such HelmOp or Bundle, or it is not deployed to that Cluster. Check the name, the namespace (-n) and --cluster.",
  },
  REQUEST_NEEDS_CLUSTER: {
    retryable: false,
    help: "The HelmOp or Bundle is deployed to several Clusters. The message lists them; choose one with --cluster.",
  },
  REQUEST_LIMITED: {
    retryable: true,
    help: "Too many requests to agents are in progress: 4 for one agent, 4 of one user, 16 of one replica of the hub. Retry when one of them has ended.",
  },
  AGENT_OFFLINE: {
    retryable: true,
    help: "The agent of the Cluster is not connected to the hub, so nothing can be read from it now. What is installed keeps running.",
  },
  AGENT_OUTDATED: {
    retryable: false,
    help: "The agent, or the replica of the hub that it is connected to, has a version that answers no requests. Upgrade it.",
  },
  REQUEST_INTERRUPTED: {
    retryable: true,
    help: "The answer of the agent is not complete: its connection ended, or the time or the size of an answer was exceeded. Retry; for a log, choose a pod or fewer lines.",
  },
});
