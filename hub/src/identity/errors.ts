/** Errors of the hub's certificates and of certificate requests. */
import { defineErrors } from "@flotilla/shared/errors";

export const identityErrors = defineErrors({
  SECRET_INVALID: {
    retryable: false,
    help: "A Secret that the hub created for itself is invalid. Restore it from a backup. If you delete `flotilla-ca`, the hub creates a new authority, and every agent has to enrol again; if you delete `flotilla-pin-signing-key`, every chart version is resolved again.",
  },
  AUTHORITY_UNCONFIRMED: {
    retryable: true,
    help: "The hub could not confirm which of its authorities signs now, so it issued no certificate. The agent retries; its current certificate stays valid until it expires.",
  },
  HUB_ID_UNKNOWN: {
    retryable: true,
    help: "The hub could not read the UID of the namespace kube-system of its cluster, which identifies the hub. Allow the hub to read namespaces.",
  },
  CERTIFICATE_REQUEST_INVALID: {
    retryable: false,
    help: "An agent sent an invalid certificate request: malformed, not signed with its own key, or with a key that is not P-256.",
  },
});
