/**
 * Whether a chart's templates read the cluster or ask name servers when they are rendered. Library charts that are part of
 * many others have functions for it that hardly anybody calls, so what counts is what can be reached from a template that
 * is rendered. Pure.
 *
 * This keeps surprises away and is no wall: a chart that means harm can put a template together from pieces and have it
 * rendered with `tpl`. The wall is the account that Helm acts as (docs/adr/0010).
 */
import { type Action, actionsOf } from "./template-actions.ts";

/** Functions of Helm's whose result comes from outside of the chart and its values. */
export const outsideFunctions = ["lookup", "getHostByName"] as const;
export type OutsideFunction = (typeof outsideFunctions)[number];

export interface TemplateFile {
  readonly path: string;
  readonly text: string;
}

/** For each function the path of a template that calls it. */
export type OutsideCalls = Readonly<Partial<Record<OutsideFunction, string>>>;

export interface TemplateCalls {
  readonly calls: OutsideCalls;
  /** Whether texts of the values are rendered as templates too. */
  readonly rendersValues: boolean;
  /** Whether the chart's other files may be. */
  readonly rendersFiles: boolean;
}

/** What stands between `define` and `end`, or in a file outside of them. */
interface Piece {
  readonly path: string;
  readonly calls: Set<string>;
  readonly includes: Set<string>;
}

/** Stands for a name that is only known when the template is rendered. */
const anyName = "*";

/** In most charts there is none of these, and no need to look closer. */
const suspect = /lookup|getHostByName|tpl/;

export function templateCalls(files: readonly TemplateFile[]): TemplateCalls {
  if (!files.some(({ text }) => suspect.test(text)))
    return { calls: {}, rendersValues: false, rendersFiles: false };
  const named = new Map<string, Piece[]>();
  const rendered: Piece[] = [];
  for (const file of files) {
    const outer = readFile(file, named);
    // Files whose names begin with `_` only define.
    if (!/(^|\/)_[^/]*$/.test(file.path)) rendered.push(outer);
  }

  const reached = new Set<Piece>();
  const ahead = [...rendered];
  for (let piece = ahead.pop(); piece !== undefined; piece = ahead.pop()) {
    if (reached.has(piece)) continue;
    reached.add(piece);
    for (const name of piece.includes)
      ahead.push(...(name === anyName ? [...named.values()].flat() : (named.get(name) ?? [])));
  }
  const calls: Partial<Record<OutsideFunction, string>> = {};
  for (const name of outsideFunctions) {
    const paths = [...reached].filter((piece) => piece.calls.has(name)).map(({ path }) => path);
    const [first] = paths.toSorted();
    if (first !== undefined) calls[name] = first;
  }
  const isCalled = (name: string): boolean => [...reached].some((piece) => piece.calls.has(name));
  const rendersValues = isCalled("tpl");
  return { calls, rendersValues, rendersFiles: rendersValues && isCalled(".Files") };
}

/** What is called by templates among the texts in values. */
export function callsInValues(values: unknown, path: string): OutsideCalls {
  const calls: Partial<Record<OutsideFunction, string>> = {};
  for (const text of textsIn(values)) Object.assign(calls, callsInText(text, path));
  return calls;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

/** What is called by a text that is rendered as a template. */
export function callsInText(text: string, path: string): OutsideCalls {
  if (!suspect.test(text)) return {};
  const called = new Set(actionsOf(text).flatMap((words) => words.map(({ name }) => name)));
  return Object.fromEntries(
    outsideFunctions.filter((name) => called.has(name)).map((name) => [name, path]),
  );
}

/** Gives what stands outside of `define`. */
function readFile({ path, text }: TemplateFile, named: Map<string, Piece[]>): Piece {
  const outer = newPiece(path);
  /** The piece that each open block is in. */
  const open: Piece[] = [];
  let current = outer;
  for (const action of actionsOf(text)) {
    const [keyword] = action;
    switch (keyword?.name) {
      case "define":
      case "block": {
        open.push(current);
        if (keyword.name === "block") addWords(current, action);
        current = newPiece(path);
        const name = keyword.text ?? anyName;
        named.set(name, [...(named.get(name) ?? []), current]);
        break;
      }
      case "if":
      case "range":
      case "with":
        open.push(current);
        addWords(current, action);
        break;
      case "end":
        current = open.pop() ?? outer;
        break;
      default:
        addWords(current, action);
    }
  }
  return outer;
}

function addWords(piece: Piece, action: Action): void {
  for (const { name, text } of action) {
    if (name === "include" || name === "template" || name === "block")
      piece.includes.add(text ?? anyName);
    else piece.calls.add(name);
    if (name === "tpl" && text !== undefined)
      for (const inner of actionsOf(text)) addWords(piece, inner);
  }
}

function newPiece(path: string): Piece {
  return { path, calls: new Set(), includes: new Set() };
}
