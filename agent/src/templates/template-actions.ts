/**
 * The actions of a Go template, as far as it takes to see which functions they call: words, and the texts that stand
 * right behind them. Comments and the text between actions are left out. Pure.
 */

/** A function or keyword with its first argument, where that is a text that can be read off. */
export interface Word {
  readonly name: string;
  readonly text?: string;
}

/** One `{{ … }}`. */
export type Action = readonly Word[];

const opening = "{{";
/**
 * A text, a raw text, a character, a name with what makes it a field or a variable, the end: `}}` or a quote that nothing
 * closes, behind which Go reads no template; or anything else.
 */
const token =
  /"((?:\\.|[^"\\])*)"|`([^`]*)`|'(?:\\.|[^'\\])*'|([.$]?[\p{L}_][\p{L}\p{Nd}_]*)|(\}\}|["`'])|\s+|./gsu;

export function actionsOf(template: string): readonly Action[] {
  const actions: Action[] = [];
  let at = template.indexOf(opening);
  while (at !== -1) {
    const inside = at + opening.length;
    const comment = /^-?\s*\/\*/.exec(template.slice(inside, inside + 64));
    if (comment === null) {
      const { words, end } = readAction(template, inside);
      actions.push(words);
      at = template.indexOf(opening, end);
    } else {
      const end = template.indexOf("*/", inside + comment[0].length);
      at = end === -1 ? -1 : template.indexOf(opening, end);
    }
  }
  return actions;
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
    // `-` only trims what is around the action.
    else if (argument === undefined && whole.trim() !== "" && whole !== "-")
      words.push({ name: whole });
  }
  return { words, end: template.length };
}
