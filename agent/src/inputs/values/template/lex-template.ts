/**
 * Lexes a Go template with the delimiters `${ }` as Go's own lexer does: strings may contain `}`, `${-` and `-}` trim the text
 * around them, comments have no output. Pure.
 */

/** The error of one template, without its path, which only the caller has. */
export class TemplateError extends Error {
  override readonly name: string = "TemplateError";
}

export type TokenKind = "text" | "number" | "field" | "variable" | "dot" | "word" | "sign";

export interface Token {
  readonly kind: TokenKind;
  /** Verbatim. */
  readonly source: string;
  /** Whether white space precedes it: `.a .b` are two operands, `.a.b` is one. */
  readonly hasSpaceBefore: boolean;
}

/** Text between actions, already trimmed, or the tokens between `${` and `}`. */
export type Piece =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "action"; readonly tokens: readonly Token[] };

const opening = "${";
const comment = /(?:-[ \t\r\n])?\/\*/y;
const commentEnd = /\*\/([ \t\r\n]-)?\}/y;
const leftTrim = /-[ \t\r\n]/y;
const end = /([ \t\r\n]-)?\}/y;
const spaces = /[ \t\r\n]+/y;

/** The tokens of an action; matched in this order. */
const tokens: readonly (readonly [TokenKind, RegExp])[] = [
  ["text", /"(?:\\[^\n]|[^"\\\n])*"|`[^`]*`|'(?:\\[^\n]|[^'\\\n])*'/y],
  ["number", /[+-]?\.?[0-9](?:[eEpP][+-]|[\p{L}\p{Nd}_.])*/uy],
  ["field", /\.[\p{L}\p{Nd}_]+/uy],
  ["dot", /\./y],
  ["variable", /\$[\p{L}\p{Nd}_]*/uy],
  ["word", /[\p{L}\p{Nd}_]+/uy],
  ["sign", /:=|[=|(),]/y],
];

/** Throws a TemplateError. */
export function lexTemplate(template: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trims = false;
  while (at < template.length) {
    const start = template.indexOf(opening, at);
    let text = template.slice(at, start < 0 ? undefined : start);
    if (trims) text = text.replace(/^[ \t\r\n]+/, "");
    if (start >= 0 && matchAt(leftTrim, template, start + opening.length) !== undefined)
      text = trimEnd(text, " \t\r\n");
    if (text !== "") pieces.push({ kind: "literal", text });
    if (start < 0) break;
    const action = lexAction(template, start + opening.length);
    if (action.tokens !== undefined) pieces.push({ kind: "action", tokens: action.tokens });
    ({ at, trims } = action);
  }
  return pieces;
}

interface LexedAction {
  /** Absent for a comment. */
  readonly tokens?: readonly Token[];
  readonly at: number;
  readonly trims: boolean;
}

function lexAction(template: string, start: number): LexedAction {
  const opened = matchAt(comment, template, start);
  if (opened !== undefined) {
    const closing = template.indexOf("*/", start + opened[0].length);
    if (closing < 0) throw new TemplateError("it has an unclosed comment");
    const closed = matchAt(commentEnd, template, closing);
    if (closed === undefined)
      throw new TemplateError("it has a comment that does not end its ${ }");
    return { at: closing + closed[0].length, trims: closed[1] !== undefined };
  }
  const found: Token[] = [];
  let at = start + (matchAt(leftTrim, template, start)?.[0].length ?? 0);
  for (;;) {
    const closed = matchAt(end, template, at);
    if (closed !== undefined)
      return { tokens: found, at: at + closed[0].length, trims: closed[1] !== undefined };
    const space = matchAt(spaces, template, at)?.[0] ?? "";
    // The last space may belong to the trim marker at the end.
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

function lexToken(template: string, at: number, hasSpaceBefore: boolean): Token {
  if (at >= template.length) throw new TemplateError("it has an unclosed ${");
  for (const [kind, pattern] of tokens) {
    const source = matchAt(pattern, template, at)?.[0];
    if (source !== undefined) return { kind, source, hasSpaceBefore };
  }
  const [character = ""] = template.slice(at, at + 2);
  throw new TemplateError(
    /["'`]/.test(character)
      ? `it has an unterminated string that begins with ${character}`
      : `it has an unexpected character ${JSON.stringify(character)} in a \${ }`,
  );
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/**
 * The text without these characters at its end. A pattern such as `/ +$/` has quadratic cost for many spaces anywhere in the
 * text, which could block the agent for minutes.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
