/** Errors of the dashboard's API. */
import { AppError, defineErrors } from "@flotilla/shared/errors";

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
  STREAMS_LIMITED: {
    retryable: true,
    help: "A session has 50 open streams of changes on this replica: one for each tab of the dashboard, and each other client of `/api/v1/changes`. Close some of them.",
  },
  ACTION_FAILED: {
    retryable: false,
    help: "The action has no effect on the object as it is now, or the API server of the hub rejected the change. The message has the reason.",
  },
});

export function invalid(message: string): AppError {
  return new AppError(dashboardErrors.VIEW_INVALID, message);
}

export function forbidden(message: string): AppError {
  return new AppError(dashboardErrors.VIEW_FORBIDDEN, message);
}

export interface NamedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function notFound({ kind, namespace, name }: NamedObject): AppError {
  const message = `there is no ${kind} ${namespace}/${name}`;
  return new AppError(dashboardErrors.VIEW_NOT_FOUND, message);
}
