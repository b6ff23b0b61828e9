/** A response of the API server that is not a success. */
import { AppError, type ErrorKind } from "../../runtime/errors/index.ts";
import { kubeErrors } from "./errors.ts";

export interface StatusErrorDetail {
  /** The HTTP status. */
  readonly status: number;
  /** The machine-readable reason, such as `AlreadyExists`; empty when there was none. */
  readonly reason: string;
  /** The server's own message; "" if there was none. */
  readonly serverMessage?: string;
  readonly retryAfterMs?: number;
  /** Reasons of the single causes, such as `NamespaceTerminating`. */
  readonly causes?: readonly string[];
}

export class KubeStatusError extends AppError {
  override readonly name = "KubeStatusError";
  readonly status: number;
  readonly reason: string;
  /** The server's own message. */
  readonly serverMessage: string;
  /** The server's Retry-After. */
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly string[];

  constructor(message: string, detail: StatusErrorDetail) {
    super(kindOf(detail.status), message);
    this.status = detail.status;
    this.reason = detail.reason;
    this.serverMessage = detail.serverMessage ?? "";
    this.retryAfterMs = detail.retryAfterMs;
    this.causes = detail.causes ?? [];
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

/** A write was rejected because the object has changed since it was read, or is another one by now. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof KubeStatusError && error.status === 409 && error.reason !== "AlreadyExists"
  );
}

/** A create was rejected because there is an object of that name. */
export function isAlreadyExists(error: unknown): boolean {
  return (
    error instanceof KubeStatusError && error.status === 409 && error.reason === "AlreadyExists"
  );
}

export function isForbidden(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 403;
}

/** A create was rejected because the namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return error instanceof KubeStatusError && error.causes.includes("NamespaceTerminating");
}

export function isNotFound(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 404;
}

/** The server is busy, or prepares a kind whose definition has just changed: try again later. */
export function isTooManyRequests(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 429;
}

/** The server no longer has the history that was requested: list again. */
export function isGone(error: unknown): boolean {
  return error instanceof KubeStatusError && error.status === 410;
}
