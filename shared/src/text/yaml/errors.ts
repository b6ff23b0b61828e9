/** What is thrown for a text that is not YAML: inside of this folder with an offset, to callers with a line and a column. */
import { defineErrors } from "../../runtime/errors/index.ts";

export const yamlErrors = defineErrors({
  YAML_INVALID: {
    retryable: false,
    help: "The text is not YAML as Helm reads it. The message names the file, the line and the column, and says what is wrong there.",
  },
});

/** Anything with a range in a text, as the nodes of the package `yaml` have it. */
interface Ranged {
  readonly range?: readonly number[] | null | undefined;
}

/** What is invalid in a text as YAML, and where. The caller that knows the file name turns it into an AppError. */
export class DecodeError extends Error {
  /** In characters from the start of the text. */
  readonly offset: number;

  constructor(where: number | Ranged, why: string) {
    super(why);
    this.offset = typeof where === "number" ? where : (where.range?.[0] ?? 0);
  }
}
