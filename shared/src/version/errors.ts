/** What can be wrong with a version constraint. */
import { defineErrors } from "../errors/app-error.ts";

export const versionErrors = defineErrors({
  VERSION_CONSTRAINT_INVALID: {
    retryable: false,
    help: 'The text is no version constraint as Helm reads it. The message says what is wrong and shows a right one, for example "^1.2", ">=1.2.0 <2.0.0" or "1.4.x || 2.x".',
  },
});
