/** One `${ … }` of a template in its pieces, cut as Go's lexer cuts it. Pure. */

export interface Token {
  readonly kind: "space" | "open" | "close" | "field" | "variable" | "name" | "dot" | "other";
  readonly text: string;
}

export interface CutAction {
  readonly tokens: readonly Token[];
  /** Whether the white space that follows goes too (` -}`). */
  readonly trimsAfter: boolean;
  /** Where the text goes on. */
  readonly end: number;
}

/** The end, texts in three kinds of quotes, numbers, fields, variables, names, brackets, white space, anything else. */
const piece =
  /(?<end>(?<trim>\s+-)?\})|(?<quoted>"(?:\\.|[^"\\\n])*"|`[^`]*`|'(?:\\.|[^'\\\n])*')|(?<number>\.?\d[\p{L}\p{Nd}_.]*)|(?<field>\.[\p{L}_][\p{L}\p{Nd}_]*)|(?<variable>\$[\p{L}\p{Nd}_]*)|(?<name>[\p{L}_][\p{L}\p{Nd}_]*)|(?<dot>\.)|(?<open>\()|(?<close>\))|(?<space>\s+)|[^]/uy;

const kinds = ["space", "open", "close", "field", "variable", "name", "dot"] as const;

/** From right behind the `${`, or its `-`. Undefined where the end is missing. */
export function cutAction(template: string, start: number): CutAction | undefined {
  const tokens: Token[] = [];
  const pieces = new RegExp(piece);
  pieces.lastIndex = start;
  for (let found = pieces.exec(template); found !== null; found = pieces.exec(template)) {
    const groups = found.groups ?? {};
    if (groups["end"] !== undefined)
      return { tokens, trimsAfter: groups["trim"] !== undefined, end: pieces.lastIndex };
    const kind = kinds.find((each) => groups[each] !== undefined) ?? "other";
    tokens.push({ kind, text: found[0] });
  }
  return undefined;
}
