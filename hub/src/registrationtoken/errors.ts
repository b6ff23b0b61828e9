/** Errors of registration tokens. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const registrationTokenErrors = defineErrors({
  TOKEN_SECRET_CONFLICT: {
    retryable: true,
    help: "A Secret with the name of the ClusterRegistrationToken exists and does not belong to it. Delete that Secret, or create a token with another name.",
  },
});
