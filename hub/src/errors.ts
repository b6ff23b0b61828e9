/** What can go wrong on the hub beyond charts, Kubernetes and the wire. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const hubErrors = defineErrors({
  HELMOP_INVALID: {
    retryable: false,
    help: "The HelmOp's spec cannot be carried out. The message names the field and says what to change.",
  },
  NOT_SUPPORTED: {
    retryable: false,
    help: "The HelmOp uses a field of Fleet that this version does not carry out yet. It is refused rather than installed without it.",
  },
  BUNDLE_NAME_TAKEN: {
    retryable: true,
    help: "A Bundle of the HelmOp's name exists that the HelmOp did not make. Rename the HelmOp, or delete that Bundle.",
  },
  PIN_MISSING: {
    retryable: false,
    help: "A Bundle names a chart version that was never resolved to an address and a digest. Reconcile its HelmOp.",
  },
  CONTENT_MISSING: {
    retryable: true,
    help: "The Secret that holds the content of a deployment is not there. It is made again when its Bundle is reconciled.",
  },
  HELM_SECRET_UNUSABLE: {
    retryable: false,
    help: "The Secret that helmSecretName names is not there, cannot be read, or holds something that cannot be used. The message says which. What is deployed stays; the HelmOp is looked at again as soon as the Secret changes.",
  },
});
