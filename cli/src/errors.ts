/**
 * Why a command of `flotilla` failed, as a code that scripts can compare. A command that refuses has changed nothing, which the text
 * says; the texts are shown in docs/errors.md.
 */
import { defineErrors } from "@flotilla/shared/errors";

export const cliErrors = defineErrors({
  NO_FLEET: {
    retryable: false,
    help: "No local fleet is running in this folder. Start one with `flotilla up`, or set its folder with --dir.",
  },
  FLEET_BROKEN: {
    retryable: false,
    help: "Some processes of the local fleet have ended; their logs are in its folder. Run `flotilla down` to stop the rest, then `flotilla up`.",
  },
  FLEET_NOT_READY: {
    retryable: true,
    help: "The local fleet did not become ready in time, or was interrupted before. The message says what was missing.",
  },
  CLUSTER_NOT_FOUND: {
    retryable: false,
    help: "The hub has no Cluster with this name. Check the namespace (-n) and the hub (--kubeconfig, --context).",
  },
  OBJECT_NOT_FOUND: {
    retryable: false,
    help: "The hub has no object of this kind and name. Check the namespace (-n) and the hub (--kubeconfig, --context).",
  },
  ROLLOUT_NOT_FOUND: {
    retryable: false,
    help: "The app has no BundleRollout: its spec.rolloutStrategy has no stages, maxFailures or onFailure, or the hub has not started one yet. Check the name, the namespace (-n) and the hub (--kubeconfig, --context).",
  },
  ROLLOUT_REFUSED: {
    retryable: false,
    help: "What was asked for has no effect in the phase that the rollout is in, or it has become another one since it was shown. Nothing was changed. The message says what to do instead.",
  },
  NOT_CONFIRMED: {
    retryable: false,
    help: "A command that changes something asks first, and the answer was not yes. Nothing was changed. Scripts say it in advance: with --yes, and for approvals with the digest of what is approved.",
  },
  VALUES_FILE_INVALID: {
    retryable: false,
    help: "A file with values cannot be read, or is not a map. Nothing was asked. The message has its name; `-` is standard input.",
  },
  GATE_REFUSED: {
    retryable: false,
    help: "The decision about a Gate was not taken: it was made already, is about something else by now, has expired, or the user has no right to it. Nothing was changed. The message says which, and what to do.",
  },
  OBJECT_SUSPENDED: {
    retryable: false,
    help: "The object has spec.suspend: true, so requests to reconcile it have no effect. Run `flotilla resume` first.",
  },
  FLEET_LEASE_EXISTS: {
    retryable: false,
    help: "Fleet's controllers use the same objects as Flotilla, and one of their Leases exists, so the objects may be Fleet's. Nothing was changed. If Fleet is uninstalled, delete the Lease that the message names.",
  },
  FLUX_LEASE_EXISTS: {
    retryable: false,
    help: "A Lease of Flux's controllers exists, and the hub has Bundles of HelmReleases that are not suspended: their releases would be uninstalled with them. Nothing was changed. A hub that runs suspends them while the Lease exists. If Flux is uninstalled, delete the Lease that the message names.",
  },
  HUB_NOT_RUNNING: {
    retryable: false,
    help: "Releases are uninstalled by the agents, on behalf of a hub that runs, and none does. Nothing was changed. Start the hub, or leave the releases with --keep-releases.",
  },
  UNINSTALL_INCOMPLETE: {
    retryable: true,
    help: "`flotilla uninstall` waited for something that did not happen. The message says for what, and what to do. The command continues where it stopped when it is run again.",
  },
  OPEN_FILES_LIMIT: {
    retryable: false,
    help: "Each simulated agent opens a connection of its own, and the limit of open files is too low for them. `ulimit -n` shows the limit and raises it for programs started from that shell; the hub needs the same limit.",
  },
  TOKEN_SECRET_NOT_FOUND: {
    retryable: false,
    help: "The Secret of --token-secret is not in the namespace. It must be the Secret of a ClusterRegistrationToken; without the flag a token is created.",
  },
  SIMULATION_NAME_TAKEN: {
    retryable: false,
    help: "Objects that no simulation created have names that this simulation needs. They were not changed, and nothing was created. Choose another --name.",
  },
  SIMULATION_EXISTS: {
    retryable: false,
    help: "A simulation with this name is running, or its objects were kept. Stop it, delete its objects with `flotilla simulate --remove NAME`, or choose another --name.",
  },
  RECONCILE_FAILED: {
    retryable: true,
    help: "The hub handled the request, but the object or the source of its chart has an error. The message has the error and the time of the next attempt.",
  },
  TARGET_INVALID: {
    retryable: false,
    help: "Commands take an object as `KIND NAME`, as `KIND/NAME`, and as `kubectl get --output name` prints it. The message has the kinds that the command is for.",
  },
  REQUEST_REJECTED: {
    retryable: true,
    help: "The hub, or its API server, has rejected the request; the message says why. `flotilla logs`, `diff` and `history` need a ServiceAccount of the hub's cluster that may `get` `bundledeployments/log`, `/diff` or `/history`, and the right to create its tokens.",
  },
  REQUEST_INCOMPLETE: {
    retryable: true,
    help: "The agent could not answer, or its answer is not complete; the message says why. What was received is printed.",
  },
  AUTHORITY_NOT_FOUND: {
    retryable: false,
    help: "The cluster has no Secret flotilla-system/flotilla-ca, which every hub creates on its first start. Check the hub (--kubeconfig, --context).",
  },
  ROTATION_IN_PROGRESS: {
    retryable: false,
    help: "The certificate authority of the hub is already being rotated. The message has the progress. Retry when the rotation is complete.",
  },
});
