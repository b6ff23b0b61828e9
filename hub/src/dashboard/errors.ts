/** Errors of the dashboard's API. */
import { defineErrors } from "@flotilla/shared/errors";

export const dashboardErrors = defineErrors({
  VIEW_INVALID: {
    retryable: false,
    help: "The dashboard's API does not understand the request. The message has the part that is wrong; the OpenAPI document is at `/api/v1/openapi.json`.",
  },
  VIEW_FORBIDDEN: {
    retryable: false,
    help: "The user may not list that kind in that namespace, so the dashboard does not show it. Grant `list` on it in the workspace; rights in the namespaces of single clusters do not count.",
  },
  VIEW_NOT_FOUND: {
    retryable: false,
    help: "There is no such object. It was deleted, or the address is wrong.",
  },
  VIEW_UNAVAILABLE: {
    retryable: true,
    help: "This replica of the hub is not ready: it is starting or stopping. The page retries.",
  },
  ACTION_FAILED: {
    retryable: false,
    help: "The API server of the hub rejected what the user wanted to change. The message has its answer; the same command with kubectl has the same result.",
  },
});
