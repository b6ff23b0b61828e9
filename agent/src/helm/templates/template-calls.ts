/**
 * Determines whether a chart's templates read the cluster or query DNS when they are rendered. Library charts that many charts
 * include have functions for it that are rarely called, so only code that is reachable from a rendered template counts. Pure.
 *
 * This prevents accidents and is not a security boundary: a malicious chart can compose a template from pieces and render it
 * with `tpl`. The boundary is the account that Helm impersonates (docs/adr/0010).
 */
import { type Action, actionsOf } from "./template-actions.ts";

/** Helm's functions whose result depends on more than the chart and its values. */
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
  /** Strings of the values are rendered as templates too. */
  readonly rendersValues: boolean;
  /** The chart's other files may be rendered too. */
  readonly rendersFiles: boolean;
}

/** The part between `define` and `end`, or the rest of a file. */
interface Piece {
  readonly path: string;
  readonly calls: Set<string>;
  readonly includes: Set<string>;
}

/** A name that is only known when the template is rendered. */
const anyName = "*";

/** Most charts contain none of these and need not be parsed. */
const suspect = /lookup|getHostByName|tpl/;

/** Whether a text, such as values as JSON, can call anything that matters. JSON escapes no letter of these names. */
export function hasSuspects(text: string): boolean {
  return suspect.test(text);
}

export function templateCalls(files: readonly TemplateFile[]): TemplateCalls {
  if (!files.some(({ text }) => suspect.test(text)))
    return { calls: {}, rendersValues: false, rendersFiles: false };
  const named = new Map<string, Piece[]>();
  const rendered: Piece[] = [];
  for (const file of files) {
    const outer = readFile(file, named);
    // Files whose names begin with `_` contain definitions only.
    if (!/(^|\/)_[^/]*$/.test(file.path)) rendered.push(outer);
  }

  const reached = new Set<Piece>();
  const queue = [...rendered];
  for (let piece = queue.pop(); piece !== undefined; piece = queue.pop()) {
    if (reached.has(piece)) continue;
    reached.add(piece);
    for (const name of piece.includes)
      queue.push(...(name === anyName ? [...named.values()].flat() : (named.get(name) ?? [])));
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

/** Calls in strings of the values that are templates. */
export function callsInValues(values: unknown, path: string): OutsideCalls {
  const calls: Partial<Record<OutsideFunction, string>> = {};
  for (const text of stringsIn(values)) Object.assign(calls, callsInText(text, path));
  return calls;
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...stringsIn(inner)]);
}

/** Calls in a string that is rendered as a template. */
export function callsInText(text: string, path: string): OutsideCalls {
  if (!suspect.test(text)) return {};
  const called = new Set<string>();
  for (const action of actionsOf(text)) for (const { name } of action) called.add(name);
  return Object.fromEntries(
    outsideFunctions.filter((name) => called.has(name)).map((name) => [name, path]),
  );
}

/** Returns the part outside of `define`. */
function readFile({ path, text }: TemplateFile, named: Map<string, Piece[]>): Piece {
  const outer = newPiece(path);
  /** The enclosing piece of each open block. */
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
