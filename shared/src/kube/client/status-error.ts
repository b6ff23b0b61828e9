/** An answer of the API server that is not a success. */
import { AppError, type ErrorKind } from "../../errors/app-error.ts";
import { kubeErrors } from "./errors.ts";

export interface StatusErrorDetail {
  /** The HTTP status. */
  readonly status: number;
  /** The machine-readable reason, such as `AlreadyExists`; empty when there was none. */
  readonly reason: string;
  readonly retryAfterMs?: number;
}

export class KubeStatusError extends AppError {
  override readonly name = "KubeStatusError";
  readonly status: number;
  readonly reason: string;
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, detail: StatusErrorDetail) {
    super(kindOf(detail.status), message);
    this.status = detail.status;
    this.reason = detail.reason;
    this.retryAfterMs = detail.retryAfterMs;
  }
}

function kindOf(status: number): ErrorKind {
  switch (status) {
    case 401:
      return kubeErrors.KUBE_UNAUTHORIZED;
    case 403:
      return kubeErrors.KUBE_FORBIDDEN;
    case 404:
      return kubeErrors.KUBE_NOT_FOUND;
    case 409:
      return kubeErrors.KUBE_CONFLICT;
    case 410:
      return kubeErrors.KUBE_GONE;
    case 429:
      return kubeErrors.KUBE_TOO_MANY_REQUESTS;
    default:
      return status >= 400 && status < 500 && status !== 408
        ? kubeErrors.KUBE_INVALID
        : kubeErrors.KUBE_SERVER;
  }
}

/** A write was refused because the object has changed since it was read, or is another one by now. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof KubeStatusError && error.status === 409 && error.reason !== "AlreadyExists"
  );
}

/** A create was refused because there is an object of that name. */
export function isAlreadyExists(error: unknown): boolean {
  return (
    error instanceof KubeStatusError && error.status === 409 && error.reason === "AlreadyExists"
  );
}

/** Whoever asked may not. */
export function isForbidden(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 403;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 404;
}

/** The history that was asked for is no longer kept: list anew. */
export function isGone(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 410;
}
