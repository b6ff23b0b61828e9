/**
 * The one error class of the product, and how its kinds are declared.
 *
 * Every failure that a person may see carries a code from a catalogue (`defineErrors`), so that it can be looked up
 * in docs/errors.md, and says whether trying again without a change can help.
 */

/** One row of a catalogue of errors: what a code stands for. */
export interface ErrorKind {
  readonly code: string;
  /** Whether the same attempt may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** What a person can do about it: one or two sentences, shown in docs/errors.md. */
  readonly help: string;
}

/** An error with a code. The message says what was tried, against what, and what came back; never a secret. */
export class AppError extends Error {
  override readonly name: string = "AppError";
  readonly code: string;
  readonly retryable: boolean;

  constructor(
    kind: ErrorKind,
    message: string,
    options?: { readonly cause?: unknown; readonly retryable?: boolean },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = kind.code;
    this.retryable = options?.retryable ?? kind.retryable;
  }

  /** Any thrown value as an AppError; one that already is comes back unchanged, an unknown one is retryable. */
  static from(thrown: unknown): AppError {
    if (thrown instanceof AppError) return thrown;
    return new AppError(commonErrors.INTERNAL, messageOf(thrown), { cause: thrown });
  }
}

/** The text of any thrown value, followed by the texts of its causes where they add something. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const own =
    thrown instanceof AggregateError && thrown.message === ""
      ? thrown.errors.map(messageOf).join("; ")
      : thrown.message;
  if (thrown.cause === undefined) return own === "" ? thrown.name : own;
  const cause = messageOf(thrown.cause);
  return cause === "" || own.includes(cause) ? own : `${own}: ${cause}`;
}

/** Declares a catalogue: the property name becomes the code. */
export function defineErrors<K extends string>(
  rows: Readonly<Record<K, { readonly retryable: boolean; readonly help: string }>>,
): Readonly<Record<K, ErrorKind>> {
  const catalogue = {} as Record<K, ErrorKind>;
  for (const code of Object.keys(rows) as K[]) catalogue[code] = { code, ...rows[code] };
  return catalogue;
}

/** Errors that any part of the product may meet. */
export const commonErrors = defineErrors({
  INTERNAL: {
    retryable: true,
    help: "Something failed in a way that this version does not know. The message is the original one; please report it.",
  },
  CANCELLED: {
    retryable: true,
    help: "The work was given up because the process is ending or newer work replaced it.",
  },
  CONFIG_INVALID: {
    retryable: false,
    help: "A flag, an environment variable or a file has a value that cannot be used. The message names it and says what is expected.",
  },
});

/** For the default branch of a switch over a closed union. */
export function unreachable(value: never): never {
  throw new AppError(commonErrors.INTERNAL, `unexpected value ${JSON.stringify(value)}`);
}
