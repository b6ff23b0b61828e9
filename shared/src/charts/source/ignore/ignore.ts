/**
 * Which files of a source are left out, as in Flux: `.sourceignore` files, then `spec.ignore`, then the last pattern that matches
 * the path or a directory above it decides. Unlike in Git, a file can be included although its directory is ignored.
 */
import { posix } from "node:path";
import type { TimeSlices } from "../../../runtime/concurrency/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { chartErrors } from "../index.ts";
import { builtInPatterns, versionControlPatterns } from "./built-in.ts";
import { type IgnorePattern, matchesPathOrParent, parsePattern } from "./pattern.ts";

/** The name of the files with patterns. */
export const ignoreFileName = ".sourceignore";

export interface IgnoreFile {
  /** The directory of the file, from the root of the source, without a slash at either end; "" is the root. */
  readonly directory: string;
  readonly text: string;
}

export interface IgnoreOptions {
  /** A tree (Git, OCI) has patterns of its own: all without any pattern of the user, the patterns for Git's own files with one. */
  readonly kind: "tree" | "bucket";
  /** In the order from the root down. A bucket has only the file of the root. */
  readonly files?: readonly IgnoreFile[];
  /** `spec.ignore`. */
  readonly ignore?: string | undefined;
}

export interface Ignore {
  /**
   * Whether a file is left out. `path` is from the root of the source, without a slash at either end. It pauses between patterns when
   * the slice is over: a thousand patterns for one long path take a second.
   */
  ignores(path: string, slices: TimeSlices): Promise<boolean>;
}

/** More take seconds on the files of a large source. Written files have a few dozen. */
export const maxIgnorePatterns = 1_000;
/** The limit of `spec.ignore` and all files together, comments included. */
export const maxIgnoreBytes = 256 * 1024;
/** The limit of one pattern. No pause is possible while it is compared with a path. */
const maxCharacters = 1_024;
const maxNames = 64;

/** Comparisons of characters between two looks at the clock: a millisecond or less. */
const unitsOfCheck = 100_000;

/** Throws SOURCE_IGNORE_INVALID for too many patterns, too many bytes, and a pattern that is too long. */
export function createIgnore({ kind, files = [], ignore = "" }: IgnoreOptions): Ignore {
  const texts = [...files, { directory: "", text: ignore, field: "spec.ignore" }];
  checkIgnoreBytes(texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
  const own: IgnorePattern[] = [];
  for (const { directory, text, ...rest } of texts) {
    const field = "field" in rest ? rest.field : posix.join(directory, ignoreFileName);
    const domain = namesOf(directory);
    for (const line of text.split("\n")) {
      const pattern = parseLine(line, domain, field);
      if (pattern !== undefined) own.push(pattern);
      if (own.length > maxIgnorePatterns)
        throw invalid(
          `spec.ignore and ${ignoreFileName} have more than ${maxIgnorePatterns} patterns together: shorten them`,
        );
    }
  }
  const patterns = [...builtIn(kind, own.length > 0), ...own].reverse();
  return {
    async ignores(path, slices) {
      const names = namesOf(path);
      let units = 0;
      for (const pattern of patterns) {
        if (matchesPathOrParent(pattern, names, false)) return !pattern.isNegated;
        units += pattern.units * path.length;
        if (units < unitsOfCheck) continue;
        units = 0;
        if (slices.isOver) await slices.pause();
      }
      return false;
    },
  };
}

/** `sizeBytes`: of `spec.ignore` and the files together. Throws SOURCE_IGNORE_INVALID. */
export function checkIgnoreBytes(sizeBytes: number): void {
  if (sizeBytes > maxIgnoreBytes)
    throw invalid(
      `spec.ignore and ${ignoreFileName} have ${sizeBytes} bytes together, more than ${maxIgnoreBytes}: shorten them`,
    );
}

function parseLine(
  line: string,
  domain: readonly string[],
  field: string,
): IgnorePattern | undefined {
  if (!line.startsWith("#")) {
    if (line.length > maxCharacters)
      throw invalid(
        `${field} has a pattern of ${line.length} characters, more than ${maxCharacters}: shorten it`,
      );
    const names = namesOf(line).length;
    if (names > maxNames)
      throw invalid(`${field} has a pattern of ${names} names, more than ${maxNames}: shorten it`);
  }
  return parsePattern(line, domain);
}

function builtIn(kind: IgnoreOptions["kind"], hasOwn: boolean): readonly IgnorePattern[] {
  if (kind === "bucket") return [];
  return (hasOwn ? versionControlPatterns : builtInPatterns).flatMap(
    (line) => parsePattern(line) ?? [],
  );
}

function namesOf(path: string): readonly string[] {
  return path === "" ? [] : path.split("/");
}

function invalid(message: string): AppError {
  return new AppError(chartErrors.SOURCE_IGNORE_INVALID, message);
}
