/**
 * Which files of a source are left out, as in Flux: `.sourceignore` files, then `spec.ignore`, then the last pattern that matches
 * the path or a directory above it decides. Unlike in Git, a file can be included although its directory is ignored.
 */
import { AppError } from "../../errors/index.ts";
import { chartErrors } from "../index.ts";
import { builtInPatterns, versionControlPatterns } from "./built-in.ts";
import { type IgnorePattern, matchesPath, parsePattern } from "./pattern.ts";

/** The name of the files with patterns. */
export const ignoreFileName = ".sourceignore";

export interface IgnoreFile {
  /** The directory of the file, from the root of the source, without a slash at either end; "" is the root. */
  readonly directory: string;
  readonly text: string;
}

export interface IgnoreOptions {
  /** A tree (Git, OCI) has patterns of its own: all without any pattern of the user, those of Git's own files with one. */
  readonly kind: "tree" | "bucket";
  /** In the order from the root down. Of a bucket: only that of the root. */
  readonly files?: readonly IgnoreFile[];
  /** `spec.ignore`. */
  readonly ignore?: string | undefined;
}

export interface Ignore {
  /** `path` is from the root of the source, without a slash at either end. */
  ignores(path: string, isDirectory: boolean): boolean;
  /** Whether files below an ignored directory may be included, so that it has to be read. */
  readonly hasInclusions: boolean;
}

/** More take seconds on the files of a large source. Written files have a few dozen. */
export const maxIgnorePatterns = 1_000;

/** Throws SOURCE_IGNORE_INVALID for too many patterns. */
export function createIgnore({ kind, files = [], ignore = "" }: IgnoreOptions): Ignore {
  const own = [
    ...files.flatMap(({ directory, text }) => parsePatterns(text, namesOf(directory))),
    ...parsePatterns(ignore, []),
  ];
  if (own.length > maxIgnorePatterns)
    throw new AppError(
      chartErrors.SOURCE_IGNORE_INVALID,
      `spec.ignore and ${ignoreFileName} have ${own.length} patterns together, more than ${maxIgnorePatterns}`,
    );
  const patterns = [...builtIn(kind, own.length > 0), ...own];
  return {
    hasInclusions: patterns.some(({ isNegated }) => isNegated),
    ignores(path, isDirectory) {
      const names = namesOf(path);
      const decisive = patterns.findLast((pattern) =>
        matchesPathOrParent(pattern, names, isDirectory),
      );
      return decisive !== undefined && !decisive.isNegated;
    },
  };
}

function matchesPathOrParent(
  pattern: IgnorePattern,
  names: readonly string[],
  isDirectory: boolean,
): boolean {
  if (matchesPath(pattern, names, isDirectory)) return true;
  for (let length = names.length - 1; length > pattern.domain.length; length--)
    if (matchesPath(pattern, names.slice(0, length), true)) return true;
  return false;
}

function builtIn(kind: IgnoreOptions["kind"], hasOwn: boolean): readonly IgnorePattern[] {
  if (kind === "bucket") return [];
  return (hasOwn ? versionControlPatterns : builtInPatterns).flatMap(
    (line) => parsePattern(line) ?? [],
  );
}

function parsePatterns(text: string, domain: readonly string[]): readonly IgnorePattern[] {
  return text.split("\n").flatMap((line) => parsePattern(line, domain) ?? []);
}

function namesOf(path: string): readonly string[] {
  return path === "" ? [] : path.split("/");
}
