/** The parameters of an address: what is behind its `?`. Pure. */
import { invalidAddress } from "./errors.ts";

/** One parameter, decoded. */
interface Parameter {
  readonly name: string;
  readonly value: string;
  /** As it was written, for a request that has to send exactly this: a signature may cover it. */
  readonly written: string;
}

export interface Parameters {
  readonly all: readonly Parameter[];
  get(name: string): string | undefined;
}

/** A name that a message may show. In anything else a value may be hidden, such as `token%3DVALUE`. */
export const plainName = /^[A-Za-z][\w.-]{0,63}$/;

/** Whether the value of a parameter is shown nowhere; helmfile masks the same ones. */
export function isSecretParameter(name: string): boolean {
  return /token|password|secret|key|signature/i.test(name);
}

/** A part of an address without %-encoding; undefined if that is invalid. */
export function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses `a=1&b=2`. A plus is a plus, not a space: names of versions and keys in base64 have some. Throws HELMFILE_SOURCE_INVALID for
 * an invalid encoding.
 */
export function parseParameters(query: string): Parameters {
  const all = query.split("&").flatMap((written): readonly Parameter[] => {
    if (written === "") return [];
    const at = written.indexOf("=");
    const name = decodePart(at < 0 ? written : written.slice(0, at));
    const value = decodePart(at < 0 ? "" : written.slice(at + 1));
    if (name === undefined || value === undefined || written.includes(";"))
      throw invalidAddress(
        "spec.source",
        "has a parameter that cannot be decoded",
        "?NAME=VALUE&NAME=VALUE, with %25 for a percent sign and %3B for a semicolon",
      );
    return [{ name, value, written }];
  });
  return { all, get: (name) => all.find((each) => each.name === name)?.value };
}

/** Throws HELMFILE_SOURCE_INVALID for a parameter that is not one of `known`. */
export function requireKnown({ all }: Parameters, known: readonly string[]): void {
  const unknown = all.find(({ name }) => !known.includes(name));
  if (unknown === undefined) return;
  // A text without a value may be the value itself.
  const isName = unknown.written.includes("=") && plainName.test(unknown.name);
  const shown = isName ? `the parameter ${unknown.name}` : "a parameter";
  throw invalidAddress(
    "spec.source",
    `has ${shown}, which an address of this kind does not have`,
    `only ${known.join(", ")}, and credentials into the Secret that spec.sourceSecretName names`,
  );
}

/** Throws HELMFILE_SOURCE_INVALID for one of `names` that is there twice: programs differ in which of them they take. */
export function requireSingle({ all }: Parameters, names: readonly string[]): void {
  const twice = names.find((name) => all.filter((each) => each.name === name).length > 1);
  if (twice !== undefined)
    throw invalidAddress("spec.source", `has the parameter ${twice} twice`, "it once");
}
