/**
 * A minimal lexer for Go templates, sufficient to find the functions that are called: words, and the string literals that
 * follow them. Comments and the text between actions are skipped. Pure.
 */

/** A function or keyword with its first argument, if that is a string literal. */
export interface Word {
  readonly name: string;
  readonly text?: string;
}

/** One `{{ … }}`. */
export type Action = readonly Word[];

const opening = "{{";
/**
 * A string, a raw string, a character, a name (of a field or variable too), the end (`}}`, or an unclosed quote, after which Go
 * parses no template), or anything else.
 */
const token =
  /"((?:\\.|[^"\\])*)"|`([^`]*)`|'(?:\\.|[^'\\])*'|([.$]?[\p{L}_][\p{L}\p{Nd}_]*)|(\}\}|["`'])|\s+|./gsu;

/** One at a time: a template may have millions of them. */
export function* actionsOf(template: string): Generator<Action, void> {
  let at = template.indexOf(opening);
  while (at !== -1) {
    const inside = at + opening.length;
    const comment = /^-?\s*\/\*/.exec(template.slice(inside, inside + 64));
    if (comment === null) {
      const { words, end } = readAction(template, inside);
      yield words;
      at = template.indexOf(opening, end);
    } else {
      const end = template.indexOf("*/", inside + comment[0].length);
      at = end === -1 ? -1 : template.indexOf(opening, end);
    }
  }
}

function readAction(
  template: string,
  start: number,
): { readonly words: Action; readonly end: number } {
  const words: Word[] = [];
  const tokens = new RegExp(token);
  tokens.lastIndex = start;
  for (let found = tokens.exec(template); found !== null; found = tokens.exec(template)) {
    const [whole, text, raw, name, end] = found;
    if (end === "}}") return { words, end: tokens.lastIndex };
    if (end !== undefined) break;
    const argument = text ?? raw;
    const last = words.at(-1);
    if (name !== undefined) words.push({ name });
    else if (argument !== undefined && last !== undefined && last.text === undefined)
      words[words.length - 1] = { name: last.name, text: argument };
    // `-` is a trim marker.
    else if (argument === undefined && whole.trim() !== "" && whole !== "-")
      words.push({ name: whole });
  }
  return { words, end: template.length };
}
