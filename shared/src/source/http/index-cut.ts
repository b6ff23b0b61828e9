/**
 * Cuts the text of an index.yaml into one part for each chart, without parsing it, while it arrives: parsing a large index takes
 * a second, cutting it a few milliseconds, and only few of its charts are ever requested. Only the plain layout that Helm
 * writes is cut; an index in any other layout is reported, and parsed as a whole. Pure.
 */

export interface IndexCutter {
  /** The next bytes. False when the text does not have the plain layout. */
  add(bytes: Uint8Array): boolean;
  /** The end of the text. False when it does not have the plain layout. */
  finish(): boolean;
  /** The bytes that were added and are in no part yet. */
  rest(): Uint8Array;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const HASH = 0x23;
const DASH = 0x2d;
const maxKeyBytes = 512;
/** The limit of one chart's part: the open part is in memory, and copied with each block that is added. */
const maxPartBytes = 32 * 1024 * 1024;

const topLevelKey = /^([A-Za-z][\w-]*)[ ]*:(?:[ ]+(.*))?$/;
const chartKey = /^(?:"([^"\\]+)"|'([^']+)'|([A-Za-z0-9][\w.+-]*))[ ]*:(?:[ ]|$)/;

interface Line {
  readonly start: number;
  readonly end: number;
  readonly next: number;
  /** Leading spaces; -1 for an empty line or a comment. */
  readonly indent: number;
}

/**
 * `onPart` receives every byte once and in order: the lines of a chart, including the line of its name, with that name, and the
 * lines between charts without one.
 */
export function createIndexCutter(
  onPart: (name: string | undefined, bytes: Uint8Array) => void,
): IndexCutter {
  const text = new TextDecoder();
  /** Starts with the open part. */
  let bytes: Uint8Array = new Uint8Array(0);
  let scanned = 0;
  let partStart = 0;
  let open: string | undefined;
  let isPlain = true;
  let isBegun = false;
  let chartIndent: number | undefined;
  let inEntries = false;
  let sawEntries = false;
  let sawApiVersion = false;

  function closePart(end: number): void {
    if (end > partStart) onPart(open, bytes.subarray(partStart, end));
    partStart = end;
    open = undefined;
  }

  function lineText(line: Line): string {
    return text.decode(
      bytes.subarray(line.start + line.indent, Math.min(line.end, line.start + maxKeyBytes)),
    );
  }

  function takeTopLevelLine(line: Line): boolean {
    if (open !== undefined) closePart(line.start);
    const content = lineText(line);
    if (content === "---" && !sawEntries && !sawApiVersion) return true;
    if (bytes[line.start] === DASH && !inEntries && !content.startsWith("---")) return true;
    const [, key, value = ""] = topLevelKey.exec(content) ?? [];
    if (key === undefined) return false;
    inEntries = key === "entries";
    if (inEntries && (sawEntries || !isEmptyValue(value))) return false;
    sawEntries ||= inEntries;
    sawApiVersion ||= key === "apiVersion" && !isEmptyValue(value);
    return true;
  }

  /** False when it does not have the plain layout. */
  function takeLine(line: Line): boolean {
    if (line.indent === -1) return true;
    if (line.indent === 0) return takeTopLevelLine(line);
    if (!inEntries) return true;

    chartIndent ??= line.indent;
    if (line.indent > chartIndent) return open !== undefined;
    if (line.indent < chartIndent) return false;
    const first = line.start + line.indent;
    if (bytes[first] === DASH && (first + 1 === line.end || bytes[first + 1] === SPACE))
      return open !== undefined;
    const [, double, single, plain] = chartKey.exec(lineText(line)) ?? [];
    const name = double ?? single ?? plain;
    if (name === undefined) return false;
    closePart(line.start);
    open = name;
    return true;
  }

  /** Scans all complete lines. */
  function scan(): boolean {
    const end = bytes.lastIndexOf(LF) + 1;
    if (end <= scanned) return true;
    if (!hasPlainLineEnds(bytes.subarray(scanned, end))) return false;
    if (!isBegun) scanned = startOf(bytes);
    isBegun = true;
    while (scanned < end) {
      const line = lineAt(bytes, scanned);
      if (line === undefined || !takeLine(line)) return false;
      scanned = line.next;
    }
    return true;
  }

  return {
    add(more) {
      const unfinished = bytes.subarray(partStart);
      scanned -= partStart;
      partStart = 0;
      bytes = unfinished.length === 0 ? more : Buffer.concat([unfinished, more]);
      isPlain = isPlain && scan() && bytes.length - partStart <= maxPartBytes;
      if (isPlain && open === undefined) closePart(scanned);
      return isPlain;
    },
    finish() {
      // A text that stops within a line was truncated; the full parse reports it.
      if (!isPlain || scanned < bytes.length || !sawEntries || !sawApiVersion) return false;
      closePart(bytes.length);
      return true;
    },
    rest: () => bytes.subarray(partStart),
  };
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

/** A single carriage return is a line end in YAML, but not in the scan above. */
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
