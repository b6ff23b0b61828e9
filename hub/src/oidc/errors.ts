/** Errors of login with OpenID Connect. */
import { defineErrors } from "@flotilla/shared/errors";

export const oidcErrors = defineErrors({
  OIDC_UNAVAILABLE: {
    retryable: true,
    help: "The hub cannot use the OpenID provider: it does not answer, answers something else, or the file with the client secret cannot be read. The message has the reason. Check `dashboard.oidc` of the chart flotilla: issuerURL must be the issuer exactly as the provider writes it, and `ca` has the authority of its certificate.",
  },
  OIDC_REJECTED: {
    retryable: false,
    help: "The OpenID provider has not logged the user in, or the hub does not accept its answer: its signature, issuer, audience, nonce or time is wrong, or the provider does not know the client, its secret, the redirect URI or a scope. The message has the reason.",
  },
  OIDC_CLAIMS_INVALID: {
    retryable: false,
    help: "The ID token does not say who the user is: the claim for the user name or for the groups is missing or has another type, or the email address is not verified. The rules are those of kube-apiserver's flags --oidc-*. Have the provider write the claim into the ID token, or set another one in `dashboard.oidc`.",
  },
});
