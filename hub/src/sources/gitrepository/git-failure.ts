/** Flux's reasons for errors of Git. Pure. */

import { AppError } from "@flotilla/shared/errors";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { chartErrors } from "@flotilla/shared/source";
import { gitErrors } from "@flotilla/shared/source/git";
import { SourceError } from "../fluxsource/source-error.ts";

const secretErrors: ReadonlySet<string> = new Set([
  gitErrors.GIT_SECRET_INVALID.code,
  chartErrors.REPOSITORY_SECRET_INVALID.code,
]);

const signatureReasons: ReadonlyMap<string, string> = new Map([
  [gitErrors.GIT_SIGNATURE_INVALID.code, fluxReason.invalidCommitSignature],
  [gitErrors.GIT_TAG_SIGNATURE_INVALID.code, fluxReason.invalidTagSignature],
]);

export function gitFailure(thrown: unknown): SourceError {
  if (thrown instanceof SourceError) return thrown;
  const error = AppError.from(thrown);
  const options = { cause: error };
  if (error.code === gitErrors.GIT_URL_INVALID.code)
    return new SourceError(fluxReason.urlInvalid, error.message, { ...options, stalls: true });
  if (secretErrors.has(error.code))
    return new SourceError(fluxReason.authenticationFailed, error.message, options);
  const unverified = signatureReasons.get(error.code);
  if (unverified !== undefined)
    return new SourceError(unverified, error.message, {
      ...options,
      condition: fluxType.sourceVerified,
    });
  return new SourceError(fluxReason.gitOperationFailed, error.message, options);
}
