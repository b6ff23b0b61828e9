/** Why a source could not be read, as its conditions have it. */

import { AppError } from "@flotilla/shared/errors";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { chartErrors, RepositoryError } from "@flotilla/shared/source";

/** The condition that a failure is shown in, besides Ready and Stalled. */
export type FailureCondition =
  | (typeof fluxType)[
      | "fetchFailed"
      | "buildFailed"
      | "storageOperationFailed"
      | "includeUnavailable"]
  /** False then, unlike the others. */
  | typeof fluxType.sourceVerified;

export interface SourceErrorOptions {
  /** Default: FetchFailed. */
  readonly condition?: FailureCondition;
  /** Nothing but a change of the object or of what it refers to can help, so it is not retried. */
  readonly stalls?: boolean;
  /** Its signature is missing or not trusted, which the condition SourceVerified shows besides. */
  readonly isUnverified?: boolean;
  /** It waits for another object, which has events of its own, so there is no event. */
  readonly isTrace?: boolean;
  /** The earliest time of a retry, from now. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A failure with the reason that Flux has for it. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly reason: string;
  readonly condition: FailureCondition;
  readonly stalls: boolean;
  readonly isUnverified: boolean;
  readonly isTrace: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(reason: string, message: string, options: SourceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.condition = options.condition ?? fluxType.fetchFailed;
    this.stalls = options.stalls ?? false;
    this.isUnverified = options.isUnverified ?? false;
    this.isTrace = options.isTrace ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The source that a chart is made from has nothing to make it from yet. Flux has no event for it that Alerts select. */
export function noSourceArtifact(message: string): SourceError {
  return new SourceError(fluxReason.noSourceArtifact, message, { isTrace: true });
}

/** Flux's reasons for errors of the clients. */
const reasons: ReadonlyMap<string, string> = new Map([
  [chartErrors.REGISTRY_UNAUTHORIZED.code, fluxReason.authenticationFailed],
  [chartErrors.REPOSITORY_SECRET_INVALID.code, fluxReason.authenticationFailed],
  [chartErrors.INDEX_INVALID.code, fluxReason.indexationFailed],
]);

/** The failure for whatever was thrown; `reason`: of errors that have none. */
export function sourceErrorOf(thrown: unknown, reason: string = fluxReason.failed): SourceError {
  if (thrown instanceof SourceError) return thrown;
  const error = AppError.from(thrown);
  return new SourceError(reasons.get(error.code) ?? reason, error.message, {
    cause: error,
    ...(error instanceof RepositoryError && { retryAfterMs: error.retryAfterMs }),
  });
}
