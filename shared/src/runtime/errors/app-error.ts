/**
 * The error class of the product, and the catalogues of its codes. Every failure that is shown to users has a code from
 * a catalogue (`defineErrors`), which docs/errors.md explains, and declares whether a retry without a change can
 * succeed.
 */

/** One row of a catalogue. */
export interface ErrorKind {
  readonly code: string;
  /** Whether the same attempt may succeed later without a change. */
  readonly retryable: boolean;
  /** What to do about it: one or two sentences, for docs/errors.md. */
  readonly help: string;
}

/** An error with a code. The message says what failed, on what, and why; never a secret. */
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

  /** Any thrown value as an AppError: an AppError unchanged, anything else as INTERNAL, which is retryable. */
  static from(thrown: unknown): AppError {
    if (thrown instanceof AppError) return thrown;
    return new AppError(commonErrors.INTERNAL, messageOf(thrown), { cause: thrown });
  }
}

/** The message of any thrown value, followed by the messages of its causes where they add something. */
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

/** Errors of no particular part. */
export const commonErrors = defineErrors({
  INTERNAL: {
    retryable: true,
    help: "An unexpected error. The message is the original one; please report it.",
  },
  CANCELLED: {
    retryable: true,
    help: "The work was cancelled because the process is stopping or newer work replaced it.",
  },
  CONFIG_INVALID: {
    retryable: false,
    help: "A flag, an environment variable or a file has an invalid value. The message names it and says what is expected.",
  },
  PROBE_FAILED: {
    retryable: true,
    help: "The URL of --probe did not answer with success. The message has its answer, which says why the process is not ready.",
  },
});

/** For the default branch of a switch over a closed union. */
export function unreachable(value: never): never {
  throw new AppError(commonErrors.INTERNAL, `unexpected value ${JSON.stringify(value)}`);
}
