/** Flux's reasons for errors of Git. Pure. */
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import { gitErrors } from "@flotilla/shared/source/git";
import { SourceError } from "../fluxsource/index.ts";

const secretErrors: ReadonlySet<string> = new Set([
  gitErrors.GIT_SECRET_INVALID.code,
  chartErrors.REPOSITORY_SECRET_INVALID.code,
]);

export function gitFailure(thrown: unknown): SourceError {
  if (thrown instanceof SourceError) return thrown;
  const error = AppError.from(thrown);
  const options = { cause: error };
  if (error.code === gitErrors.GIT_URL_INVALID.code)
    return new SourceError("URLInvalid", error.message, { ...options, stalls: true });
  if (secretErrors.has(error.code))
    return new SourceError("AuthenticationFailed", error.message, options);
  if (error.code === gitErrors.GIT_SIGNATURE_INVALID.code)
    return new SourceError(
      error.message.startsWith("tag ") ? "InvalidTagSignature" : "InvalidCommitSignature",
      error.message,
      { ...options, condition: "SourceVerified" },
    );
  return new SourceError("GitOperationFailed", error.message, options);
}
