/** What can be wrong with YAML. */
import { defineErrors } from "../errors/app-error.ts";

export const yamlErrors = defineErrors({
  YAML_INVALID: {
    retryable: false,
    help: "The text is no YAML as Helm reads it. The message names the file, the line and the column, and says what is wrong there.",
  },
});
