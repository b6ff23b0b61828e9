/** What can go wrong while a registration token is prepared. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const registrationTokenErrors = defineErrors({
  TOKEN_SECRET_CONFLICT: {
    retryable: true,
    help: "A Secret of the ClusterRegistrationToken's name exists that does not belong to it. Delete that Secret, or make a token of another name.",
  },
});
