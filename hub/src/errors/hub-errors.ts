/** What can go wrong on the hub beyond charts, Kubernetes and the wire. */
import { defineErrors } from "@flotilla/shared/errors";

export const hubErrors = defineErrors({
  HELMOP_INVALID: {
    retryable: false,
    help: "The HelmOp's spec cannot be deployed. The message names the field and says what to change.",
  },
  HELMRELEASE_INVALID: {
    retryable: false,
    help: "The HelmRelease cannot be deployed as it is written, or uses something of Flux that is not supported. The message names the field and says what to write instead.",
  },
  ACCESS_DENIED: {
    retryable: false,
    help: "A HelmRelease refers to an object of another namespace, or has no service account where one is required. The message says what to change; the administrator of the hub may allow it.",
  },
  BUNDLE_NAME_TAKEN: {
    retryable: true,
    help: "A Bundle of the HelmOp's name exists that the HelmOp did not make. Rename the HelmOp, or delete that Bundle.",
  },
  FLEET_RUNNING: {
    retryable: true,
    help: "Fleet's controllers run in the hub's cluster and use the same objects, so the hub serves nothing and writes nothing. It exits if it was running, and waits when it starts again. Uninstall Fleet or scale its controllers to 0, then have the hub take over: docs/migrate.md.",
  },
  FLUX_RUNNING: {
    retryable: true,
    help: "Flux's controllers were started in the hub's cluster while the hub wrote an object of their kinds, so the write is rejected. The hub leaves HelmReleases, sources, Alerts and Receivers as they are until the Leases of these controllers are deleted, and reconciles everything else. To have the hub reconcile them, uninstall Flux's controllers, and delete their Leases or set takeOverFromFlux: docs/flux.md.",
  },
  PIN_MISSING: {
    retryable: false,
    help: "A Bundle names a chart version that was never resolved to an address and a digest. Reconcile its HelmOp.",
  },
  CONTENT_MISSING: {
    retryable: true,
    help: "The Secret that holds the content of a deployment does not exist. It is created again when its Bundle is reconciled.",
  },
  HELM_SECRET_UNUSABLE: {
    retryable: false,
    help: "The Secret that helmSecretName names does not exist, cannot be read, or holds something that cannot be used. The message says which. What is deployed stays; the HelmOp is reconciled again as soon as the Secret changes.",
  },
  POLICY_VIOLATION: {
    retryable: false,
    help: "A Policy of the namespace forbids a setting of a HelmOp or a Bundle. The message names the Policy and what it allows. Nothing is deployed until one of them is changed; what is deployed stays.",
  },
  BUNDLE_NOT_DEPLOYABLE: {
    retryable: false,
    help: "A Bundle that was not made for a HelmOp has no chart, or has files of its own (as those that Fleet makes from Git), which Flotilla does not deploy. Name a chart in spec.helm, without spec.resources.",
  },
});
