/**
 * Version constraints as Helm reads them (Masterminds/semver v3.5.0): their syntax, and which versions satisfy them.
 *
 * npm's `semver` differs on commas, `!=`, partial versions, and above all on pre-releases, which are accepted per AND group
 * here. The results of the Go library are in shared/golden, and the tests compare with them.
 */
import { AppError, defineErrors } from "../../runtime/errors/index.ts";
import { quote, readGroup, rewriteHyphens } from "./constraint-syntax.ts";

import { satisfiesTerm, type Term, termOf } from "./term.ts";
import type { Version } from "./version.ts";

export const versionErrors = defineErrors({
  VERSION_CONSTRAINT_INVALID: {
    retryable: false,
    help: 'The text is not a version constraint as Helm reads it. The message says what is wrong and gives correct examples, such as "^1.2", ">=1.2.0 <2.0.0" or "1.4.x || 2.x".',
  },
});

/** A parsed constraint: satisfied when any of its groups is. */
export interface Constraint {
  readonly text: string;
  readonly groups: readonly TermGroup[];
}

/** Terms that must all be satisfied: one side of `||`. */
export interface TermGroup {
  readonly terms: readonly Term[];
  /** Whether any term names a pre-release: only then does a pre-release satisfy the group at all. */
  readonly prereleases: boolean;
}

const maxBytes = 512;
const maxGroups = 32;

/** Parses a constraint; throws VERSION_CONSTRAINT_INVALID with what is wrong and correct examples. */
export function parseConstraint(text: string): Constraint {
  if (Buffer.byteLength(text) > maxBytes)
    throw invalid(text, `it is longer than ${maxBytes} bytes`);

  const pieces = rewriteHyphens(text).split("||");
  if (pieces.length > maxGroups) throw invalid(text, `it has more than ${maxGroups} alternatives`);
  return { text, groups: pieces.map((piece) => parseGroup(text, piece)) };
}

/** Whether a version satisfies a constraint. */
export function satisfies(constraint: Constraint, version: Version): boolean {
  return constraint.groups.some(
    ({ terms, prereleases }) =>
      (prereleases || version.prerelease === "") &&
      terms.every((term) => satisfiesTerm(term, version)),
  );
}

function parseGroup(text: string, piece: string): TermGroup {
  const group = readGroup(piece);
  if (group.kind === "unreadable") {
    const isEmptySide = piece !== text && piece.trim() === "";
    throw invalid(text, isEmptySide ? 'one side of "||" is empty' : group.why);
  }

  const terms = group.terms.map((read): Term => {
    const term = termOf(read);
    if (term === undefined) throw invalid(text, `${quote(read.version)} is not a version`);
    return term;
  });
  return { terms, prereleases: terms.some((term) => term.base.prerelease !== "") };
}

function invalid(text: string, why: string): AppError {
  const examples = '"^1.2", ">=1.2.0 <2.0.0", "1.4.x || 2.x" or "*" for the newest release';
  return new AppError(
    versionErrors.VERSION_CONSTRAINT_INVALID,
    // Without quotes, as the library of Fleet and Helm has it: specs and scripts look for these words.
    `improper constraint: ${quote(text).slice(1, -1)}: ${why}; write for example ${examples}`,
  );
}
