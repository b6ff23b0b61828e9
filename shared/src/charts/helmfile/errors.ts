/** Why a Helmfile cannot be used as its author wrote it. */
import { AppError, defineErrors } from "../../runtime/errors/index.ts";

export const helmfileErrors = defineErrors({
  HELMFILE_SOURCE_INVALID: {
    retryable: false,
    help: "spec.source of a Helmfile is not an address that it can be read from, or spec.version does not fit it. The message says what is wrong and what to write instead.",
  },
});

/**
 * An error for the author of an address: the field, what is wrong, and the form to write instead. No argument has a text of the
 * address in it, which may hold a secret anywhere if it is not well formed.
 */
export function invalidAddress(
  field: "spec.source" | "spec.version",
  problem: string,
  form: string,
): AppError {
  return new AppError(helmfileErrors.HELMFILE_SOURCE_INVALID, `${field} ${problem}: write ${form}`);
}
