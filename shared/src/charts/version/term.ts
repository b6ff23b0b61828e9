/**
 * One comparison of a constraint, and which versions satisfy it: exactly as Masterminds/semver v3.5.0, with its special cases
 * (every version satisfies `~0.0.0`, only 0.0.0 satisfies `^*`).
 */
import { unreachable } from "../../runtime/errors/index.ts";
import type { Operator, TermText } from "./constraint-syntax.ts";
import { compareVersions, parseVersion, type Version } from "./version.ts";

/** A comparison with a version, the base; its parts from `open` on are unspecified. */
export interface Term {
  readonly operator: Operator;
  readonly base: Version;
  /** The first part that is a wildcard or absent; "none" for a version with all three numbers. */
  readonly open: "none" | "major" | "minor" | "patch";
}

/** Parses a term; undefined when its version is invalid, for instance with a number above 2^64-1. */
export function termOf(text: TermText): Term | undefined {
  const open = firstOpenPart(text);
  const base = parseVersion(baseText(text, open));
  return base === undefined ? undefined : { operator: text.operator, base, open };
}

/** Whether a version satisfies a term. Whether pre-releases are accepted is decided by the group. */
export function satisfiesTerm(term: Term, version: Version): boolean {
  switch (term.operator) {
    case "=":
      return term.open === "none"
        ? compareVersions(version, term.base) === 0
        : isTilde(term, version);
    case "~":
      return isTilde(term, version);
    case "^":
      return isCaret(term, version);
    case "!=":
      return isDifferent(term, version);
    case ">":
      return isAbove(term, version);
    case "<=":
      return isAtMost(term, version);
    case "<":
      return compareVersions(version, term.base) < 0;
    case ">=":
      return compareVersions(version, term.base) >= 0;
    default:
      return unreachable(term.operator);
  }
}

function firstOpenPart(text: TermText): Term["open"] {
  if (isWildcard(text.major)) return "major";
  if (text.minor === "" || isWildcard(text.minor)) return "minor";
  return text.patch === "" || isWildcard(text.patch) ? "patch" : "none";
}

function baseText(text: TermText, open: Term["open"]): string {
  switch (open) {
    case "major":
      return `0.0.0${text.suffix}`;
    case "minor":
      return `${text.major}.0.0${text.suffix}`;
    case "patch":
      return `${text.major}.${text.minor}.0${text.suffix}`;
    case "none":
      return text.version;
    default:
      return unreachable(open);
  }
}

function isWildcard(part: string): boolean {
  return part === "x" || part === "X" || part === "*";
}

function isTilde({ base, open }: Term, version: Version): boolean {
  if (compareVersions(version, base) < 0) return false;
  const zero = base.major === 0n && base.minor === 0n && base.patch === 0n;
  if (zero && open !== "minor" && open !== "patch") return true;
  return version.major === base.major && (open === "minor" || version.minor === base.minor);
}

function isCaret({ base, open }: Term, version: Version): boolean {
  if (compareVersions(version, base) < 0 || version.major !== base.major) return false;
  if (base.major > 0n || open === "minor") return true;
  if (version.minor !== base.minor) return false;
  return base.minor > 0n || open === "patch" || version.patch === base.patch;
}

function isDifferent({ base, open }: Term, version: Version): boolean {
  switch (open) {
    case "minor":
      return version.major !== base.major;
    case "patch":
      return (
        version.major !== base.major ||
        version.minor !== base.minor ||
        version.prerelease !== base.prerelease
      );
    case "none":
    case "major":
      return compareVersions(version, base) !== 0;
    default:
      return unreachable(open);
  }
}

function isAbove({ base, open }: Term, version: Version): boolean {
  switch (open) {
    case "minor":
      return version.major > base.major;
    case "patch":
      return (
        version.major > base.major || (version.major === base.major && version.minor > base.minor)
      );
    case "none":
    case "major":
      return compareVersions(version, base) > 0;
    default:
      return unreachable(open);
  }
}

function isAtMost({ base, open }: Term, version: Version): boolean {
  if (open === "none") return compareVersions(version, base) <= 0;
  if (version.major !== base.major) return version.major < base.major;
  return open === "minor" || version.minor <= base.minor;
}
