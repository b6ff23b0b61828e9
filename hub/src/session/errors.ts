/** Errors of sessions of the dashboard. */
import { defineErrors } from "@flotilla/shared/errors";

export const sessionErrors = defineErrors({
  SESSION_REQUIRED: {
    retryable: false,
    help: "The request has no session, or its session has ended. Log in.",
  },
  LOGIN_FAILED: {
    retryable: false,
    help: "The API server of the hub does not accept the token: it has expired, was revoked, or is for another cluster or audience. Create a new one, such as with `kubectl create token NAME --namespace NAMESPACE`.",
  },
  LOGIN_LIMITED: {
    retryable: true,
    help: "Too many logins from one address: 10 at once, then one in 6 seconds. Wait a moment, then retry.",
  },
  LOGIN_EXPIRED: {
    retryable: false,
    help: "The identity provider redirected the browser to the hub, but the login was started more than 10 minutes ago, in another browser, at another address of the dashboard, or was already used. Log in again, at the address in the value `dashboard.url`.",
  },
  IDENTITY_REJECTED: {
    retryable: false,
    help: "The identity provider has named a user or a group that the hub never impersonates: one of Kubernetes' own, under `system:`, or a name that a request cannot have. Change it at the provider, or set another claim or a prefix in `dashboard.oidc`.",
  },
  SESSION_TOO_LARGE: {
    retryable: false,
    help: "The token, or the list of the user's groups, does not fit into the cookies of a session, which have at most 9,000 bytes. Log in with a token that has fewer claims, such as that of a ServiceAccount, or have the identity provider send fewer groups.",
  },
  REQUEST_FORGED: {
    retryable: false,
    help: "A request that changes something came without the CSRF token of the session, or from the page of another site. Reload the dashboard.",
  },
});
