/**
 * One line of an ignore file, as Git reads it. Matching takes time in proportion to the pattern and the path, whatever they
 * are: tenants write both, so no pattern becomes a regular expression.
 */
import { type GlobPart, matchesName, parseGlob } from "./glob.ts";
import { partsThatMatch, shortestMatch, type Wildcards } from "./wildcards.ts";

export interface IgnorePattern {
  /** `!`: the path is not ignored after all. */
  readonly isNegated: boolean;
  /** Ends with `/`: matches directories only. */
  readonly isForDirectories: boolean;
  /** The names of the directory that has the ignore file, from the root. */
  readonly domain: readonly string[];
  /** The names of the path; `**` for any number of directories. */
  readonly names: readonly (readonly GlobPart[] | "**")[];
  /** What comparing it with one character of a path may take, in comparisons of characters. */
  readonly units: number;
}

/** The pattern of a line; undefined for a blank line, a comment and a pattern that can match nothing. */
export function parsePattern(
  line: string,
  domain: readonly string[] = [],
): IgnorePattern | undefined {
  if (line.startsWith("#")) return undefined;
  let text = withoutTrailingSpaces(line.replace(/\r$/, ""));
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const isForDirectories = text.endsWith("/");
  if (isForDirectories) text = text.slice(0, -1);
  if (text === "") return undefined;

  const isAnchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  const names: (readonly GlobPart[] | "**")[] = isAnchored ? [] : ["**"];
  const parts = text.split("/");
  for (const [at, name] of parts.entries()) {
    // A single `**` is a name of its own only beside a slash.
    if (name === "**" && parts.length > 1) {
      // `a/**` is everything below `a`, and not `a` itself.
      if (at === parts.length - 1) names.push("**", [{ kind: "any" }]);
      else if (names.at(-1) !== "**") names.push("**");
    } else {
      const glob = parseGlob(name);
      if (glob === undefined) return undefined;
      names.push(glob);
    }
  }
  return { isNegated, isForDirectories, domain, names, units: line.length + domain.length };
}

/** Whether a pattern matches exactly this path, given as names from the root. */
export function matchesPath(
  pattern: IgnorePattern,
  path: readonly string[],
  isDirectory: boolean,
): boolean {
  if (pattern.isForDirectories && !isDirectory) return false;
  const { names } = pattern;
  const below = namesBelow(pattern, path);
  return below !== undefined && partsThatMatch(names, below, pathWildcards) === names.length;
}

/** Whether a pattern matches this path or a directory above it. Walks the path once, however deep it is. */
export function matchesPathOrParent(
  pattern: IgnorePattern,
  path: readonly string[],
  isDirectory: boolean,
): boolean {
  const { names, isForDirectories } = pattern;
  const below = namesBelow(pattern, path);
  if (below === undefined) return false;
  const length = shortestMatch(names, below, pathWildcards);
  return length !== undefined && (length < below.length || isDirectory || !isForDirectories);
}

const pathWildcards: Wildcards<readonly GlobPart[] | "**", string> = {
  isWildcard: (part) => part === "**",
  matches: (part, name) => part !== "**" && matchesName(part, name),
};

/** The names of a path below the domain of a pattern; undefined: it is not below it. */
function namesBelow(
  { domain }: IgnorePattern,
  path: readonly string[],
): readonly string[] | undefined {
  return path.length <= domain.length || domain.some((name, at) => path[at] !== name)
    ? undefined
    : path.slice(domain.length);
}

/** Spaces at the end of a line do not count, unless a backslash is before them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let backslashes = 0;
  while (line[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}
