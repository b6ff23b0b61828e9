/**
 * The grammar of version constraints, up to terms that are still text.
 *
 * Go's regular expressions are not used as they are: one over a whole group backtracks without bound here. Go's `\s` is
 * five characters, so ours lists them.
 */

/** How a term compares; `=>`, `=<` and `~>` are other spellings, and no operator is `=`. */
export type Operator = "=" | "!=" | ">" | "<" | ">=" | "<=" | "~" | "^";

/** One comparison with its original text. `suffix` is the pre-release with its `-`, or empty. */
export interface TermText {
  readonly text: string;
  readonly operator: Operator;
  /** Everything after the operator. */
  readonly version: string;
  readonly major: string;
  /** Without the dot, empty when it is absent; the same for `patch`. */
  readonly minor: string;
  readonly patch: string;
  readonly suffix: string;
}

/** The result of reading one side of `||`. */
export type GroupText =
  | { readonly kind: "terms"; readonly terms: readonly TermText[] }
  | { readonly kind: "unreadable"; readonly why: string };

const space = "[\\t\\n\\f\\r ]";
// The `|` is in Go's class by mistake. It stays: "1.x.3|" is a constraint there, because what follows a wildcard is ignored.
const part = "[0-9|xX*]+";
const identifiers = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const versionLike = `v?(?:${part})(?:\\.${part})?(?:\\.${part})?(?:-${identifiers})?(?:\\+${identifiers})?`;

const hyphenRange = new RegExp(
  `${space}*(${versionLike})${space}+-${space}+(${versionLike})${space}*`,
  "g",
);
const termPattern = `(!=|>=|=>|<=|=<|~>|[=><~^]|)${space}*(v?(${part})(?:\\.(${part}))?(?:\\.(${part}))?(-${identifiers})?(?:\\+${identifiers})?)`;
const spaces = new RegExp(`^${space}*`);

/** Replaces every `A - B` by `>= A, <= B`, as Go does it: in the text, at its first occurrence. */
export function rewriteHyphens(text: string): string {
  let rewritten = text;
  for (const [range, from, to] of text.matchAll(hyphenRange)) {
    rewritten = rewritten.replace(range, () => `>= ${from}, <= ${to} `);
  }
  return rewritten;
}

/** Splits one side of `||` into its terms, which are separated by spaces or a comma. */
export function readGroup(piece: string): GroupText {
  const term = new RegExp(termPattern, "y");
  const terms: TermText[] = [];
  let at = skipSpaces(piece, 0);
  if (at === piece.length) return { kind: "unreadable", why: "it is empty" };

  for (;;) {
    term.lastIndex = at;
    const match = term.exec(piece);
    if (match === null) return { kind: "unreadable", why: expectedTerm(piece.slice(at)) };
    terms.push(termTextOf(match));

    const end = at + match[0].length;
    at = skipSpaces(piece, end);
    if (at === piece.length) return { kind: "terms", terms };
    if (piece[at] === ",") at = skipSpaces(piece, at + 1);
    else if (at === end) return { kind: "unreadable", why: expectedSeparator(piece.slice(at)) };
  }
}

/** A part of the text for a message, shortened. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function termTextOf(match: RegExpExecArray): TermText {
  const [text, sign = "", version = "", major = "", minor = "", patch = "", suffix = ""] = match;
  return { text, operator: operatorOf(sign), version, major, minor, patch, suffix };
}

function operatorOf(sign: string): Operator {
  switch (sign) {
    case "!=":
    case ">":
    case "<":
    case ">=":
    case "<=":
    case "~":
    case "^":
      return sign;
    case "=>":
      return ">=";
    case "=<":
      return "<=";
    case "~>":
      return "~";
    default:
      return "=";
  }
}

function skipSpaces(text: string, from: number): number {
  return from + (spaces.exec(text.slice(from))?.[0].length ?? 0);
}

function expectedTerm(rest: string): string {
  if (rest === "") return "nothing follows the comma";
  if (rest.startsWith(",")) return "nothing precedes a comma";
  return `${quote(rest)} is not a version or a comparison`;
}

function expectedSeparator(rest: string): string {
  if (/^[=!<>~^]/.test(rest)) return `a space or a comma is missing before ${quote(rest)}`;
  return `${quote(rest)} cannot follow a version`;
}
