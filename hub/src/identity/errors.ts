/** What can go wrong with the hub's certificates and with those that it is asked for. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const identityErrors = defineErrors({
  SECRET_INVALID: {
    retryable: false,
    help: "A Secret that the hub made for itself cannot be used. Restore it from a backup. Without `flotilla-ca` there is a new authority, which every agent has to enrol with again; without `flotilla-pin-seal` every chart version is resolved anew.",
  },
  AUTHORITY_UNCONFIRMED: {
    retryable: true,
    help: "The hub could not make sure which of its authorities signs at the moment, so it signed nothing. The agent asks again by itself; its present certificate stays good until it ends.",
  },
  HUB_ID_UNKNOWN: {
    retryable: true,
    help: "The hub could not read the UID of the namespace kube-system of its cluster, which is what agents know it by. Grant it to read namespaces.",
  },
  CERTIFICATE_REQUEST_INVALID: {
    retryable: false,
    help: "An agent sent a certificate request that is not one, is not signed with its own key, or uses another kind of key than P-256.",
  },
});
