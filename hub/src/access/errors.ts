/** Errors of reviews of tokens and rights. */
import { defineErrors } from "@flotilla/shared/errors";

export const accessErrors = defineErrors({
  REVIEW_FAILED: {
    retryable: true,
    help: "The API server of the hub did not answer a TokenReview or a SubjectAccessReview, so the hub cannot tell who sends a request or whether they may. Retry; if it lasts, check the API server, and that the hub's ClusterRole has `create` on both.",
  },
});
