/**
 * A text with templates between `${` and `}`, as one for Helm, whose templates stand between `{{` and `}}`. What is a
 * template to Helm and is none in the text stays text. Pure.
 */

import { type CutAction, cutAction } from "./action-tokens.ts";
import { checkedChains } from "./field-chains.ts";

/** Why a text is refused before Helm sees it, as the end of a sentence that says which text. */
export interface TemplateProblem {
  readonly problem: string;
}

const opening = "${";

/** What reads the surroundings of the agent, or renders what it was given: nothing that a value may depend on. */
const refusedFunctions: ReadonlySet<string> = new Set([
  "env",
  "expandenv",
  "getHostByName",
  "include",
  "lookup",
  "tpl",
]);

export function hasTemplates(text: string): boolean {
  return text.includes(opening);
}

/** `mark`: told with what is missing. */
export function helmTemplate(text: string, mark: string): string | TemplateProblem {
  let written = "";
  let at = 0;
  /** Of each open block, whether `.` is another one in it. */
  const blocks: boolean[] = [];
  for (let start = text.indexOf(opening); start !== -1; start = text.indexOf(opening, at)) {
    written += literal(text.slice(at, start));
    const { trim, isComment } = beginning(text, start);
    const inside = start + opening.length + trim.length;
    const action = isComment ? commentAt(text, inside) : cutAction(text, inside);
    if (action === undefined)
      return {
        problem: `has a "\${" without its "}"${isComment ? ", or a comment without its end" : ""}`,
      };
    const refused = refusedIn(action);
    if (refused !== undefined)
      return { problem: `calls ${refused}, which templates of values cannot` };
    const isInner = blocks.some(Boolean);
    follow(blocks, action);
    const content = isComment ? "/**/" : checkedChains(action.tokens, { mark, isInner });
    written += `{{${trim}${content}${action.trimsAfter ? " -" : ""}}}`;
    at = action.end;
  }
  return written + literal(text.slice(at));
}

/** Nothing in it is a template to Helm. White space stays around, to be trimmed by an action beside it. */
function literal(text: string): string {
  return text.replaceAll("{", '{{"{"}}');
}

function beginning(
  text: string,
  start: number,
): { readonly trim: string; readonly isComment: boolean } {
  const behind = text.slice(start + opening.length, start + opening.length + 4);
  const trim = /^-\s/.exec(behind)?.[0] ?? "";
  return { trim, isComment: behind.startsWith("/*", trim.length) };
}

function commentAt(text: string, start: number): CutAction | undefined {
  const end = text.indexOf("*/", start + 2);
  const closing = end === -1 ? null : /^(\s+-)?\}/.exec(text.slice(end + 2));
  if (closing === null) return undefined;
  return {
    tokens: [],
    trimsAfter: closing[1] !== undefined,
    end: end + 2 + closing[0].length,
  };
}

function refusedIn({ tokens }: CutAction): string | undefined {
  return tokens.find(({ kind, text }) => kind === "name" && refusedFunctions.has(text))?.text;
}

/** Keeps `blocks` up to date. */
function follow(blocks: boolean[], { tokens }: CutAction): void {
  const keyword = tokens.find(({ kind }) => kind !== "space");
  if (keyword?.kind !== "name") return;
  if (keyword.text === "end") blocks.pop();
  else if (keyword.text === "if") blocks.push(false);
  else if (["with", "range", "block", "define"].includes(keyword.text)) blocks.push(true);
}
