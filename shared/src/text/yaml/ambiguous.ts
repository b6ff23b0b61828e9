/**
 * Rejects what the package and Go's parser both accept, but read differently: an error with a line is better than a value
 * that Helm would not have read.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isScalar,
  type Node,
  type Pair,
  Scalar,
  visit,
} from "yaml";
import { DecodeError } from "./errors.ts";

/** Throws a DecodeProblem for the first such place; `text` is the document's. */
export function rejectAmbiguous(document: Document, text: string): void {
  visit(document, {
    Collection(_key, node, path) {
      if (isInFlow(path)) rejectJoinedTag(node, text);
    },
    Scalar(_key, node, path) {
      if (isInFlow(path)) rejectJoinedTag(node, text);
      if (isQuoted(node)) rejectEscapedBreak(node, text);
      if (isQuoted(node) || node.source === undefined) return;
      if (/[\u2028\u2029]/.test(node.source)) {
        throw new DecodeError(
          node,
          "a U+2028 or U+2029 ends the line here; write the text in double quotes",
        );
      }
      if (/^[?:]/.test(node.source) && isInFlow(path)) {
        throw new DecodeError(
          node,
          'in [] or {} a "?" or ":" starts a key or a value; write the text in quotes',
        );
      }
    },
    Pair(_key, { key }, path) {
      if (!isScalar(key) || isQuoted(key) || !isInFlow(path)) return;
      const end = key.range?.[1] ?? 0;
      if (/^:[,[\]{}]/.test(text.slice(end, end + 2))) {
        throw new DecodeError(end, 'in [] or {} this ":" is part of the key; put a space after it');
      }
    },
  });
}

/** In Go a tag ends at the next space, so it includes brackets and commas. */
function rejectJoinedTag(node: Node, text: string): void {
  if (isAlias(node) || node.tag === undefined) return;
  const start = node.range?.[0] ?? 0;
  const isEmpty = isScalar(node) && node.source === "" && !isQuoted(node);
  if (isEmpty || !/\s/.test(text.charAt(start - 1))) {
    throw new DecodeError(
      node,
      "in [] or {} what follows a tag belongs to it; put a space between tag and value",
    );
  }
}

/** An empty line after an escaped line break is a line break in Go, and nothing in the package. */
function rejectEscapedBreak(node: Scalar, text: string): void {
  if (node.type !== Scalar.QUOTE_DOUBLE) return;
  const [start = 0, end = 0] = node.range ?? [];
  const escapes = text.slice(start, end).matchAll(/\\(?:(\n[ \t]*\n)|[\s\S])/g);
  if (escapes.some(([, emptyLine]) => emptyLine !== undefined)) {
    throw new DecodeError(
      node,
      'an empty line follows a "\\" at the end of a line; write "\\n" for it',
    );
  }
}

function isQuoted({ type }: Scalar): boolean {
  return type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE;
}

function isInFlow(path: readonly (Document | Node | Pair)[]): boolean {
  const parent = path.findLast((node) => isCollection(node));
  return isCollection(parent) && parent.flow === true;
}
