/** Errors of Receivers. */
import { defineErrors } from "@flotilla/shared/errors";

export const receiverErrors = defineErrors({
  ISSUER_KEYS: {
    retryable: true,
    help: "The keys that sign the tokens of Google Pub/Sub cannot be fetched, so a Receiver of type gcr cannot check its callers and answers 500; the sender repeats the call. Check that the hub reaches the issuer (`--gcr-issuer`, by default https://accounts.google.com) and the address of its keys.",
  },
});
