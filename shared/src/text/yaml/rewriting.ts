/**
 * What a program changes that reads YAML and writes it again with its styles, as Helm does around a post-renderer (yaml.v3 of Go).
 * Folded text (`>`) gains and loses lines there, and anchors and aliases are separated from each other: the items of a list become
 * documents, and what is set on a node with an anchor is set on all of its aliases. Pure.
 */
import { CST, Lexer } from "yaml";

/** The lexer puts it before the text of each scalar that has no quotes. */
const scalarMark = "\u001f";

/** Whether a text has folded text, an anchor or an alias. `>`, `&` and `*` inside of other texts and comments are none. */
export function isChangedByRewriting(text: string): boolean {
  if (!/[&*>]/.test(text)) return false;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!isScalar && isFoldedOrShared(token)) return true;
    isScalar = token === scalarMark;
  }
  return false;
}

function isFoldedOrShared(token: string): boolean {
  const type = CST.tokenType(token);
  return (
    type === "anchor" || type === "alias" || (type === "block-scalar-header" && token[0] === ">")
  );
}
