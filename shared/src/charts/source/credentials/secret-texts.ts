/** The keys of Secrets as texts, and errors about them. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import { chartErrors } from "../index.ts";

/** The data of a Secret, in base64. */
export interface SecretData {
  readonly data?: Readonly<Record<string, string>> | undefined;
}

export type Texts = Readonly<Record<string, string | undefined>>;

/** The texts of these keys alone: what is read is what agents are sent. */
export function textsOf(secret: SecretData | undefined, keys: readonly string[]): Texts {
  const data = secret?.data ?? {};
  return Object.fromEntries(
    keys.flatMap((key) => {
      const text = Object.hasOwn(data, key) ? data[key] : undefined;
      return text === undefined ? [] : [[key, Buffer.from(text, "base64").toString()]];
    }),
  );
}

export function given(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

/** The error for a pair of keys of which one alone is set. */
export function halfPair(data: Texts, one: string, other: string): AppError | undefined {
  if (given(data[one]) === given(data[other])) return undefined;
  const [present, absent] = given(data[one]) ? [one, other] : [other, one];
  return invalidSecret(`${present} is set in the secret, but ${absent} isn't`);
}

export function invalidSecret(message: string): AppError {
  return new AppError(chartErrors.REPOSITORY_SECRET_INVALID, message);
}

/** A user or password of an address; as it is when its escapes are invalid. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
