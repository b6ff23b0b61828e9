/**
 * Cuts the text of an index.yaml into one block for each chart without parsing it: parsing a large index takes a
 * second, cutting it a few milliseconds, and only a few charts of it are ever asked for. Only the plain shape that
 * Helm itself writes is cut; at anything unusual this says so, and the whole is parsed.
 */

export interface IndexCut {
  /** Where each chart's lines are, its name's line included. */
  readonly blocks: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const HASH = 0x23;
const DASH = 0x2d;
const maxKeyBytes = 512;

const topLevelKey = /^([A-Za-z][\w-]*)[ ]*:(?:[ ]+(.*))?$/;
const chartKey = /^(?:"([^"\\]+)"|'([^']+)'|([A-Za-z0-9][\w.+-]*))[ ]*:(?:[ ]|$)/;

interface Line {
  readonly start: number;
  readonly end: number;
  readonly next: number;
  /** Leading spaces; -1 for a line that holds nothing, a comment included. */
  readonly indent: number;
}

/** The blocks, or undefined when the text is not of the plain shape. */
export function cutIndex(bytes: Uint8Array): IndexCut | undefined {
  // A text that stops within a line was cut off; whether it is an index at all is then for the full parse to say.
  if (bytes.at(-1) !== LF || !hasPlainLineEnds(bytes)) return undefined;
  const text = new TextDecoder();
  const blocks = new Map<string, { start: number; end: number }>();
  let open: { readonly name: string; readonly start: number } | undefined;
  let chartIndent: number | undefined;
  let inEntries = false;
  let sawEntries = false;
  let sawApiVersion = false;

  const close = (end: number): void => {
    // Of two charts with one name the last counts, as in a full parse.
    if (open !== undefined) blocks.set(open.name, { start: open.start, end });
    open = undefined;
  };
  const lineText = (line: Line): string =>
    text.decode(
      bytes.subarray(line.start + line.indent, Math.min(line.end, line.start + maxKeyBytes)),
    );

  for (let at = startOf(bytes); at < bytes.length; ) {
    const line = lineAt(bytes, at);
    if (line === undefined) return undefined;
    at = line.next;
    if (line.indent === -1) continue;

    if (line.indent === 0) {
      close(line.start);
      const content = lineText(line);
      if (content === "---" && !sawEntries && !sawApiVersion) continue;
      if (bytes[line.start] === DASH && !inEntries && !content.startsWith("---")) continue;
      const [, key, value = ""] = topLevelKey.exec(content) ?? [];
      if (key === undefined) return undefined;
      inEntries = key === "entries";
      if (inEntries && (sawEntries || !isEmptyValue(value))) return undefined;
      sawEntries ||= inEntries;
      sawApiVersion ||= key === "apiVersion" && !isEmptyValue(value);
      continue;
    }
    if (!inEntries) continue;

    chartIndent ??= line.indent;
    if (line.indent > chartIndent) {
      if (open === undefined) return undefined;
      continue;
    }
    if (line.indent < chartIndent) return undefined;
    const first = line.start + line.indent;
    if (bytes[first] === DASH && (first + 1 === line.end || bytes[first + 1] === SPACE)) {
      if (open === undefined) return undefined;
      continue;
    }
    const [, double, single, plain] = chartKey.exec(lineText(line)) ?? [];
    const name = double ?? single ?? plain;
    if (name === undefined) return undefined;
    close(line.start);
    open = { name, start: line.start };
  }
  close(bytes.length);
  return sawEntries && sawApiVersion ? { blocks } : undefined;
}

function lineAt(bytes: Uint8Array, start: number): Line | undefined {
  const found = bytes.indexOf(LF, start);
  const next = found === -1 ? bytes.length : found + 1;
  let end = found === -1 ? bytes.length : found;
  if (end > start && bytes[end - 1] === CR) end--;
  let first = start;
  while (first < end && bytes[first] === SPACE) first++;
  if (first === end || bytes[first] === HASH) return { start, end, next, indent: -1 };
  if (bytes[first] === TAB) return undefined;
  return { start, end, next, indent: first - start };
}

/** A carriage return alone would be a line end to YAML, and none to the loop above. */
function hasPlainLineEnds(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) {
    if (bytes[at + 1] !== LF) return false;
  }
  return true;
}

function startOf(bytes: Uint8Array): number {
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasByteOrderMark ? 3 : 0;
}

function isEmptyValue(value: string): boolean {
  return value === "" || value.startsWith("#");
}
