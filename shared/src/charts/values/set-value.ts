/**
 * Sets one value at a path, with the grammar of Helm's `--set` and `--set-literal` (helm.sh/helm/v4/pkg/strvals), as Flux does
 * for a `targetPath`. Like Helm it reads `PATH=TEXT` as one line, so a comma in the text begins another path, unless it is
 * escaped or in a list. Pure.
 */
import { rawNumber } from "../../text/json/index.ts";
import type { Values } from "./merge-values.ts";
import { type MutableMap, toMutable, toValues } from "./mutable-values.ts";

type SetValueResult =
  | { readonly kind: "set"; readonly values: Values }
  /** A sentence for people, without anything of the text. */
  | { readonly kind: "invalid"; readonly problem: string };

interface SetValueOptions {
  /** As `--set-literal`: the whole text is one string. */
  readonly literal?: boolean | undefined;
}

/** Helm's limits. */
const maxIndex = 65_536;
const maxNames = 30;
/** Helm has no such limits: with a text of 1 MiB it would use gigabytes of memory. */
const maxNestedLists = 100;
const maxAddedItems = 1_000_000;

/** The values with `text` at `path`. */
export function setValue(
  values: Values,
  path: string,
  text: string,
  { literal = false }: SetValueOptions = {},
): SetValueResult {
  // As in Flux: all quotes at both ends are removed.
  const isQuoted = !literal && /^(["'])(.*\1)?$/s.test(text);
  const value = isQuoted ? text.replace(/^["']+|["']+$/g, "") : text;
  const data = toMutable(values);
  const read = literal || isQuoted ? asText : typed;
  const options = { isLiteral: literal, read, addedItems: 0 };
  const { problem } = setLine(data, `${path}=${value}`, options);
  return problem === undefined
    ? { kind: "set", values: toValues(data) }
    : { kind: "invalid", problem };
}

/** How the values of lines are read. */
export type LineValues =
  /** As by `--set`: numbers, true, false and null are no strings. */
  | "typed"
  /** As by `--set-string`. */
  | "string"
  /** As by `--set-literal`: all behind the path is one string. */
  | "literal"
  /** As by `--set-file`: the text is a path. */
  | { readonly contentOf: (path: string) => string };

/** The values with what lines such as `image.tag=1.2,replicas=3` say, one after the other, as by Helm's `--set`. */
export function setValues(
  values: Values,
  lines: readonly string[],
  kind: LineValues = "typed",
): SetValueResult {
  const data = toMutable(values);
  const isLiteral = kind === "literal";
  const read = typeof kind === "object" ? kind.contentOf : kind === "typed" ? typed : asText;
  let addedItems = 0;
  for (const [index, line] of lines.entries()) {
    const set = setLine(data, line, { isLiteral, read, addedItems });
    if (set.problem !== undefined)
      return { kind: "invalid", problem: `number ${index + 1}, ${set.problem}` };
    addedItems = set.addedItems;
  }
  return { kind: "set", values: toValues(data) };
}

/** The paths in a line of Helm's `--set-file`; those before the first mistake in it. */
export function pathsInLine(line: string): readonly string[] {
  const paths: string[] = [];
  setValues({}, [line], {
    contentOf(path) {
      paths.push(path);
      return "";
    },
  });
  return paths;
}

type LineOptions = Pick<Line, "isLiteral" | "read" | "addedItems">;

function setLine(
  data: MutableMap,
  text: string,
  { isLiteral, read, addedItems }: LineOptions,
): { readonly problem?: string; readonly addedItems: number } {
  const line: Line = { text, at: 0, isLiteral, read, addedItems };
  let place = "its path";
  try {
    while (!setKey(line, data, 0).isEnd) place = "its value, where a comma begins a path";
  } catch (thrown) {
    if (!(thrown instanceof LineProblem)) throw thrown;
    return { problem: `${thrown.place ?? place}: ${thrown.message}`, addedItems };
  }
  return { addedItems: line.addedItems };
}

interface Line {
  readonly text: string;
  at: number;
  readonly isLiteral: boolean;
  readonly read: (text: string) => unknown;
  addedItems: number;
}

class LineProblem extends Error {
  /** Where it is, if not in the path that is read. */
  readonly place: string | undefined;

  constructor(problem: string, place?: string) {
    super(problem);
    this.place = place;
  }
}

interface Step {
  /** The line has ended where a value could follow. */
  readonly isEnd: boolean;
}

const end: Step = { isEnd: true };
const goOn: Step = { isEnd: false };

/** Reads `NAME=VALUE`, `NAME.…` or `NAME[N]…`, up to a comma. */
function setKey(line: Line, data: MutableMap, names: number): Step {
  const { part: key, stop } = readUntil(line, line.isLiteral ? "=[." : "=[,.");
  switch (stop) {
    case "[": {
      const index = readIndex(line);
      const before = data.get(key);
      if (before !== undefined && !Array.isArray(before)) throw notAList();
      const list: unknown[] = before ?? [];
      const step = setItem(line, list, index, { names, lists: 1 });
      set(data, key, list);
      return step;
    }
    case "=": {
      const { value, step } = readValue(line);
      set(data, key, value);
      return step;
    }
    case ",":
      throw new LineProblem("a name has no value");
    case ".": {
      if (names >= maxNames)
        throw new LineProblem(`it has more than ${maxNames} names below each other`);
      const before = data.get(key);
      if (data.has(key) && !(before instanceof Map)) throw notAMap();
      const inner: MutableMap = before instanceof Map ? before : new Map();
      const step = setKey(line, inner, names + 1);
      if (inner.size > 0) set(data, key, inner);
      else if (!step.isEnd) throw new LineProblem("a name has no value");
      return step;
    }
    default:
      if (key !== "") throw new LineProblem("a name has no value");
      return end;
  }
}

interface Depth {
  readonly names: number;
  readonly lists: number;
}

/** Reads what follows `[N]`. */
function setItem(line: Line, list: unknown[], index: number, { names, lists }: Depth): Step {
  if (lists > maxNestedLists)
    throw new LineProblem(`it has more than ${maxNestedLists} lists in each other`);
  const { part, stop } = readUntil(line, "[.=");
  if (part !== "") throw new LineProblem("an index is not followed by a name, an index or a value");
  switch (stop) {
    case "=": {
      const { value } = readValue(line);
      setIndex(line, list, index, value);
      // Helm returns no end here: the next name is read, and the line ends there.
      return goOn;
    }
    case "[": {
      const nextIndex = readIndex(line);
      const before = list[index] ?? undefined;
      if (before !== undefined && !Array.isArray(before)) throw notAList();
      const inner: unknown[] = before ?? [];
      const step = setItem(line, inner, nextIndex, { names, lists: lists + 1 });
      if (!step.isEnd) setIndex(line, list, index, inner);
      return step;
    }
    case ".": {
      const before = list[index];
      const inner: MutableMap = before instanceof Map ? before : new Map();
      if (index < list.length) list[index] = inner;
      const step = setKey(line, inner, names);
      // As in Helm, `a[0].b=` without a value adds nothing to the list.
      if (!step.isEnd) setIndex(line, list, index, inner);
      return step;
    }
    default:
      return end;
  }
}

function readValue(line: Line): { readonly value: unknown; readonly step: Step } {
  if (line.isLiteral) return { value: readUntil(line, "").part, step: goOn };
  if (line.at >= line.text.length) return { value: "", step: end };
  if (line.text[line.at] === "{") return { value: readList(line), step: goOn };
  return { value: line.read(readUntil(line, ",").part), step: goOn };
}

function readList(line: Line): unknown[] {
  line.at += 1;
  const list: unknown[] = [];
  for (;;) {
    const { part, stop } = readUntil(line, ",}");
    if (stop === undefined) throw new LineProblem("a list does not end with }", "its value");
    list.push(line.read(part));
    if (stop === ",") continue;
    if (line.text[line.at] === ",") line.at += 1;
    return list;
  }
}

/** `stop` is undefined at the end of the line. */
function readUntil(line: Line, stops: string): { readonly part: string; readonly stop?: string } {
  let part = "";
  while (line.at < line.text.length) {
    const char = line.text.charAt(line.at);
    line.at += 1;
    if (stops.includes(char)) return { part, stop: char };
    if (char !== "\\" || line.isLiteral) part += char;
    else {
      part += line.text.charAt(line.at);
      line.at += 1;
    }
  }
  return { part };
}

function readIndex(line: Line): number {
  const { part, stop } = readUntil(line, "]");
  if (stop === undefined) throw new LineProblem("an index does not end with ]");
  if (/^-\d+$/.test(part) && Number(part) < 0) throw new LineProblem("an index is negative");
  if (!/^[+-]?\d+$/.test(part)) throw new LineProblem("an index is not a number");
  return Number(part) === 0 ? 0 : Number(part);
}

function setIndex(line: Line, list: unknown[], index: number, value: unknown): void {
  if (index > maxIndex) throw new LineProblem(`an index is greater than ${maxIndex}`);
  line.addedItems += Math.max(0, index + 1 - list.length);
  if (line.addedItems > maxAddedItems)
    throw new LineProblem(`it makes lists with more than ${maxAddedItems} items`);
  while (list.length < index) list.push(null);
  list[index] = value;
}

function set(data: MutableMap, key: string, value: unknown): void {
  if (key !== "") data.set(key, value);
}

function notAList(): LineProblem {
  return new LineProblem("it has an index in a value that is not a list");
}

function notAMap(): LineProblem {
  return new LineProblem("it has a name in a value that is not a map");
}

function asText(text: string): string {
  return text;
}

const longest = 2n ** 63n;

/** As Helm infers types: integers of 64 bits without a leading zero, true, false and null in any case; all else is a string. */
function typed(text: string): unknown {
  // With the flag u as Go folds cases.
  if (/^true$/iu.test(text)) return true;
  if (/^false$/iu.test(text)) return false;
  if (/^null$/iu.test(text)) return null;
  if (text === "0") return 0;
  if (!/^([+-]\d+|[1-9]\d*)$/.test(text) || text.length > maxDigits) return text;
  const number = BigInt(text.replace(/^\+/, ""));
  if (number >= longest || number < -longest) return text;
  return Number.isSafeInteger(Number(number)) ? Number(number) : rawNumber(String(number));
}

/** Longer numbers are text, as reading one of a MiB takes seconds; nobody writes that many zeros. */
const maxDigits = 1_000;
