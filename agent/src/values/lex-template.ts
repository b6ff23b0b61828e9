/**
 * Takes a template of Go's with the delimiters `${ }` apart, as Go's own lexer does: texts may hold `}`, `${-` and `-}`
 * trim the text beside them, comments are nothing. Pure.
 */
import { TemplateProblem } from "./template-problem.ts";
import { withoutEnd } from "./without-end.ts";

export type TokenKind = "text" | "number" | "field" | "variable" | "dot" | "word" | "sign";

export interface Token {
  readonly kind: TokenKind;
  /** As it is written. */
  readonly source: string;
  /** Whether space stands before it: `.a .b` are two things, and `.a.b` is one. */
  readonly isApart: boolean;
}

/** Text between actions, its trimming done, or what stands between `${` and `}`. */
export type Piece =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "action"; readonly tokens: readonly Token[] };

const opening = "${";
const comment = /(?:-[ \t\r\n])?\/\*/y;
const commentEnd = /\*\/([ \t\r\n]-)?\}/y;
const leftTrim = /-[ \t\r\n]/y;
const end = /([ \t\r\n]-)?\}/y;
const spaces = /[ \t\r\n]+/y;

/** What can stand in an action; tried in this order. */
const tokens: readonly (readonly [TokenKind, RegExp])[] = [
  ["text", /"(?:\\[^\n]|[^"\\\n])*"|`[^`]*`|'(?:\\[^\n]|[^'\\\n])*'/y],
  ["number", /[+-]?\.?[0-9](?:[eEpP][+-]|[\p{L}\p{Nd}_.])*/uy],
  ["field", /\.[\p{L}\p{Nd}_]+/uy],
  ["dot", /\./y],
  ["variable", /\$[\p{L}\p{Nd}_]*/uy],
  ["word", /[\p{L}\p{Nd}_]+/uy],
  ["sign", /:=|[=|(),]/y],
];

/** Throws a TemplateProblem. */
export function lexTemplate(template: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trims = false;
  while (at < template.length) {
    const start = template.indexOf(opening, at);
    let text = template.slice(at, start < 0 ? undefined : start);
    if (trims) text = text.replace(/^[ \t\r\n]+/, "");
    if (start >= 0 && matchAt(leftTrim, template, start + opening.length) !== undefined)
      text = withoutEnd(text, " \t\r\n");
    if (text !== "") pieces.push({ kind: "literal", text });
    if (start < 0) break;
    const action = lexAction(template, start + opening.length);
    if (action.tokens !== undefined) pieces.push({ kind: "action", tokens: action.tokens });
    ({ at, trims } = action);
  }
  return pieces;
}

interface LexedAction {
  /** Absent: it is a comment. */
  readonly tokens?: readonly Token[];
  readonly at: number;
  readonly trims: boolean;
}

function lexAction(template: string, start: number): LexedAction {
  const opened = matchAt(comment, template, start);
  if (opened !== undefined) {
    const closing = template.indexOf("*/", start + opened[0].length);
    if (closing < 0) throw new TemplateProblem("a comment in it has no end");
    const closed = matchAt(commentEnd, template, closing);
    if (closed === undefined)
      throw new TemplateProblem("a comment in it is not all that stands in its ${ }");
    return { at: closing + closed[0].length, trims: closed[1] !== undefined };
  }
  const found: Token[] = [];
  let at = start + (matchAt(leftTrim, template, start)?.[0].length ?? 0);
  for (;;) {
    const closed = matchAt(end, template, at);
    if (closed !== undefined)
      return { tokens: found, at: at + closed[0].length, trims: closed[1] !== undefined };
    const space = matchAt(spaces, template, at)?.[0] ?? "";
    // The last space may belong to the mark at the end.
    const trimmed = space === "" ? undefined : matchAt(end, template, at + space.length - 1);
    if (trimmed?.[1] !== undefined)
      return { tokens: found, at: at + space.length - 1 + trimmed[0].length, trims: true };
    if (space !== "" && matchAt(end, template, at + space.length) !== undefined) {
      at += space.length;
      continue;
    }
    const token = lexToken(template, at + space.length, space !== "");
    found.push(token);
    at += space.length + token.source.length;
  }
}

function lexToken(template: string, at: number, isApart: boolean): Token {
  if (at >= template.length) throw new TemplateProblem("a ${ in it has no }");
  for (const [kind, pattern] of tokens) {
    const source = matchAt(pattern, template, at)?.[0];
    if (source !== undefined) return { kind, source, isApart };
  }
  const [character = ""] = template.slice(at, at + 2);
  throw new TemplateProblem(
    /["'`]/.test(character)
      ? `a text in it that begins with ${character} has no end`
      : `${JSON.stringify(character)} has no meaning in a \${ }`,
  );
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
