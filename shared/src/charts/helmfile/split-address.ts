/**
 * Splits the address of a helmfile into its parts, without knowing what they mean: `GETTER::SCHEME://AUTHORITY/BASE//FOLDER@FILE?QUERY`.
 * Pure.
 */
import { cleanPath } from "../source/git/index.ts";
import { invalidAddress } from "./errors.ts";
import { decodePart, type Parameters, parseParameters } from "./parameters.ts";

/** How an address is read: by the word before `::`, or else by the scheme. */
export type Getter = "git" | "http" | "s3" | "gcs" | "oci";

export interface AddressParts {
  readonly getter: Getter;
  /** In lower case. */
  readonly scheme: string;
  /** User, password, host and port, as written; not empty. */
  readonly authority: string;
  /** The path up to `//` or `@`, as written: empty, or with a slash at its beginning. It has no `.` and `..`, encoded or not. */
  readonly base: string;
  /** Behind the base of an image and its `@`: `sha256:…`. */
  readonly digest?: string | undefined;
  /** The path behind `//` and `@`, joined and decoded: relative, without `.` and `..`. Absent: there is none. */
  readonly tree?: string | undefined;
  readonly parameters: Parameters;
}

/** The form of most addresses, for messages. */
export const gitForm = "git::https://HOST/OWNER/REPOSITORY.git@helmfile.yaml?ref=v1";

/** In characters. */
export const longestAddress = 4_096;

/** Control characters, line ends, halves of characters, and marks by which a text is shown in another order than it is read. */
export const unprintable: RegExp =
  /[\p{Cc}\p{Cs}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;

const gettersByName: ReadonlyMap<string, Getter> = new Map([
  ["git", "git"],
  ["http", "http"],
  ["https", "http"],
  ["s3", "s3"],
  ["gcs", "gcs"],
]);
const gettersByScheme: ReadonlyMap<string, Getter> = new Map([
  ["http", "http"],
  ["https", "http"],
  ["s3", "s3"],
  ["oci", "oci"],
]);
/** What users of helmfile write besides, with the form to write instead. */
const otherSchemes: ReadonlyMap<string, string> = new Map([
  ["ssh", "git::ssh://git@HOST/OWNER/REPOSITORY.git@helmfile.yaml?ref=v1"],
  ["git", gitForm],
  ["gs", "gcs::https://www.googleapis.com/storage/v1/BUCKET/FOLDER@helmfile.yaml"],
]);

/** Throws HELMFILE_SOURCE_INVALID. */
export function splitAddress(text: string): AddressParts {
  requireReadable(text);
  const [, word, rest = ""] = /^(?:([a-z0-9]+)::)?(.*)$/is.exec(text) ?? [];
  const address = word?.toLowerCase() === "git" ? fromScpForm(rest) : rest;
  const [, written = "", authority = "", path = "", query = ""] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?]*)([^?]*)(?:\?(.*))?$/is.exec(address) ?? [];
  const scheme = written.toLowerCase();
  if (scheme === "") throw withoutScheme(address);
  const getter = getterOf(word?.toLowerCase(), scheme);
  if (authority === "") throw invalidAddress("spec.source", "names no host", gitForm);
  return {
    getter,
    scheme,
    authority,
    ...splitPath(path, getter),
    parameters: parseParameters(query),
  };
}

/**
 * The names between the slashes of a path, decoded, without empty ones. Throws HELMFILE_SOURCE_INVALID for what means a name to one
 * program and a path to another.
 */
export function decodeNames(path: string): readonly string[] {
  return path.split("/").flatMap((written) => {
    const name = decodePart(written);
    if (name === undefined || /[/\\]/.test(name) || unprintable.test(name))
      throw invalidAddress(
        "spec.source",
        "has a path with an encoded slash, a backslash, a control character or a % that encodes nothing",
        "names with slashes between them, and %25 for a percent sign",
      );
    return name === "" ? [] : [name];
  });
}

function requireReadable(text: string): void {
  if (text === "") throw invalidAddress("spec.source", "is empty", gitForm);
  if (text.length > longestAddress)
    throw invalidAddress(
      "spec.source",
      `has ${text.length} characters`,
      `at most ${longestAddress} characters`,
    );
  if (unprintable.test(text))
    throw invalidAddress(
      "spec.source",
      "has a character that is not shown",
      "the address without it",
    );
  // The URL standard takes it for a slash, and Go does not.
  if (text.includes("\\"))
    throw invalidAddress("spec.source", "has a backslash", "slashes, or %5C in a password");
  if (text.includes("#"))
    throw invalidAddress(
      "spec.source",
      "has a fragment (#)",
      "the branch, tag or commit as ?ref=, and %23 for the character",
    );
}

/** `git@host:owner/repository.git`, as `git clone` takes it, with a scheme. */
function fromScpForm(address: string): string {
  const [, server, path = ""] =
    /^([^/:@?]+@(?:\[[^\]/@?]*\]|[^/:@?]+)):(?!\/\/)(.*)$/s.exec(address) ?? [];
  return server === undefined ? address : `ssh://${server}/${path.replace(/^\//, "")}`;
}

function withoutScheme(address: string): Error {
  if (/^[a-z0-9]+::/i.test(address))
    return invalidAddress("spec.source", 'has "::" twice', `it once, as in ${gitForm}`);
  if (/^[^/:@?]+@[^/:@?]+:/.test(address))
    return invalidAddress(
      "spec.source",
      "does not say how it is read",
      "git:: before it, as in git::git@HOST:OWNER/REPOSITORY.git@helmfile.yaml?ref=v1",
    );
  return invalidAddress(
    "spec.source",
    "has no scheme, and files of the hub are not read",
    `an address such as ${gitForm}`,
  );
}

function getterOf(word: string | undefined, scheme: string): Getter {
  if (word === "file" || scheme === "file")
    throw invalidAddress(
      "spec.source",
      "is a file of the hub, which is not read",
      `an address such as ${gitForm}`,
    );
  const getter = word === undefined ? gettersByScheme.get(scheme) : gettersByName.get(word);
  if (getter !== undefined) return getter;
  const form = word === undefined ? otherSchemes.get(scheme) : undefined;
  throw invalidAddress(
    "spec.source",
    "begins with a word or a scheme that is not supported",
    form ?? `git::, s3::, gcs::, oci:// or https://, as in ${gitForm}`,
  );
}

/** A path that is written as `BASE//FOLDER@FILE`. */
function splitPath(path: string, getter: Getter): Pick<AddressParts, "base" | "digest" | "tree"> {
  // The digest of an image comes before its file.
  const [, named = path, digest, behind = ""] =
    (getter === "oci" ? /^([^@]*)@([a-z0-9+._-]+:[^@/]*)(.*)$/is.exec(path) : null) ?? [];
  const [before = "", file, more] = `${named}${behind}`.split("@");
  if (more !== undefined)
    throw invalidAddress(
      "spec.source",
      'has more than one "@" in its path',
      "one before the file, as in FOLDER@FILE, and %40 for the character in a name",
    );
  if (file === "")
    throw invalidAddress("spec.source", 'has nothing behind its "@"', "the file behind it");
  const at = before.indexOf("//");
  const base = at < 0 ? before : before.slice(0, at);
  requireInside(base);
  const folder = at < 0 ? undefined : before.slice(at);
  return {
    base,
    digest,
    tree:
      folder === undefined && file === undefined
        ? undefined
        : cleanTree([...decodeNames(folder ?? ""), ...decodeNames(file ?? "")].join("/")),
  };
}

function requireInside(base: string): void {
  const decoded = decodePart(base);
  const names = decoded?.split("/") ?? [];
  if (
    decoded === undefined ||
    unprintable.test(decoded) ||
    decoded.includes("\\") ||
    names.some((name) => name === "." || name === "..")
  )
    throw invalidAddress(
      "spec.source",
      'has ".", "..", a backslash, a control character or a % that encodes nothing in its path',
      "the path without them, and %25 for a percent sign",
    );
}

function cleanTree(path: string): string {
  try {
    return cleanPath(path);
  } catch {
    // The message of the error shows the path.
    throw invalidAddress(
      "spec.source",
      'has ".." in its path, or a path of more than 1,024 characters',
      'a short path from the root of the source, without ".."',
    );
  }
}
