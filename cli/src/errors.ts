/** What can go wrong on the command line beyond its parts. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const cliErrors = defineErrors({
  NO_FLEET: {
    retryable: false,
    help: "No local fleet is running in this folder. Start one with `flotilla up`, or name its folder with --dir.",
  },
  FLEET_BROKEN: {
    retryable: false,
    help: "Some processes of the local fleet have ended. `flotilla down` ends the others and `flotilla up` starts anew; the logs are in the fleet's folder.",
  },
  FLEET_NOT_READY: {
    retryable: true,
    help: "The local fleet was started, but did not become ready in time. The message says what was waited for.",
  },
  CLUSTER_NOT_FOUND: {
    retryable: false,
    help: "The hub has no Cluster of this name. Name its namespace with -n and the hub with --kubeconfig and --context.",
  },
  HELMOP_NOT_FOUND: {
    retryable: false,
    help: "The hub has no HelmOp of this name. Name its namespace with -n and the hub with --kubeconfig and --context.",
  },
  HELMOP_SUSPENDED: {
    retryable: false,
    help: "The HelmOp has spec.suspend: true, which also holds back requests to reconcile it. Set it to false.",
  },
  OPEN_FILES_LIMIT: {
    retryable: false,
    help: "Each simulated agent has a connection of its own, and the operating system lets a process open only so many. `ulimit -n` shows the limit and raises it for what is started from that shell; the hub needs as many.",
  },
  TOKEN_SECRET_NOT_FOUND: {
    retryable: false,
    help: "The Secret that --token-secret names is not in the namespace. It is that of a ClusterRegistrationToken; without the flag a token is made.",
  },
  SIMULATION_NAME_TAKEN: {
    retryable: false,
    help: "There are objects of the simulation's name that no simulation made. They are left as they are and nothing was made; choose another --name.",
  },
  SIMULATION_THERE: {
    retryable: false,
    help: "A simulation of this name runs, or it has ended and what it made is still there. End it, remove what it made with `flotilla simulate --remove NAME`, or choose another --name.",
  },
  RECONCILE_FAILED: {
    retryable: true,
    help: "The hub handled the request, and something is wrong with the HelmOp or its chart's source. The message says what, and when it is tried again.",
  },
  AUTHORITY_NOT_FOUND: {
    retryable: false,
    help: "The cluster has no Secret flotilla-system/flotilla-ca, which every hub makes at its first start. Name the hub with --kubeconfig and --context.",
  },
  ROTATION_UNDER_WAY: {
    retryable: false,
    help: "The hub's authority is being rotated, or was asked to be. The message says how far it is; ask again when that has come to its end.",
  },
});
