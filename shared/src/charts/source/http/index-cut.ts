/**
 * Cuts the text of an index.yaml into one part for each chart, without parsing it, while it arrives: parsing a large index takes
 * a second, cutting it a few milliseconds, and only few of its charts are ever requested. Only the plain layout that Helm
 * writes is cut (`index-layout.ts`); an index in any other layout is reported, and parsed as a whole.
 */
import {
  isComplete,
  type Layout,
  type LayoutLine,
  startOfIndex,
  stepLine,
} from "./index-layout.ts";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const HASH = 0x23;
const DASH = 0x2d;
const maxKeyBytes = 512;
/** The limit of one chart's part: the open part is in memory, and copied with each block that is added. */
const maxPartBytes = 32 * 1024 * 1024;

const text = new TextDecoder();

/**
 * Passes every byte on once and in order: the lines of a chart, including the line of its name, with that name, and the lines
 * between charts without one.
 */
export class IndexCutter {
  readonly #onPart: (name: string | undefined, bytes: Uint8Array) => void;
  /** Starts with the open part. */
  #bytes: Uint8Array = new Uint8Array(0);
  /** Up to here the lines are in the layout. */
  #scanned = 0;
  #partStart = 0;
  #layout: Layout | undefined = startOfIndex;
  #isBegun = false;

  /** The bytes that `onPart` gets must not change. What it throws, `add` and `finish` throw. */
  constructor(onPart: (name: string | undefined, bytes: Uint8Array) => void) {
    this.#onPart = onPart;
  }

  /**
   * Takes the next bytes, which must not change afterwards. False when the text does not have the plain layout: it never gets
   * it back, and `rest` is what no part has, this block included.
   */
  add(more: Uint8Array): boolean {
    const unfinished = this.#bytes.subarray(this.#partStart);
    this.#scanned -= this.#partStart;
    this.#partStart = 0;
    this.#bytes = unfinished.length === 0 ? more : Buffer.concat([unfinished, more]);
    this.#layout = this.#layout === undefined ? undefined : this.#scan(this.#layout);
    if (this.#bytes.length - this.#partStart > maxPartBytes) this.#layout = undefined;
    if (this.#layout === undefined) return false;
    if (this.#layout.kind !== "chart") this.#closePart(undefined, this.#scanned);
    return true;
  }

  /** Passes the last part on. False when the text does not have the plain layout, or ends too early: then `rest` has that part. */
  finish(): boolean {
    // A text that stops within a line was truncated; the full parse reports it.
    if (this.#layout === undefined || this.#scanned < this.#bytes.length) return false;
    if (!isComplete(this.#layout)) return false;
    this.#closePart(nameIn(this.#layout), this.#bytes.length);
    return true;
  }

  /** The bytes that were added and are in no part yet. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#partStart);
  }

  /** Scans all complete lines; undefined when they do not have the plain layout. */
  #scan(before: Layout): Layout | undefined {
    const bytes = this.#bytes;
    const end = bytes.lastIndexOf(LF) + 1;
    if (end <= this.#scanned) return before;
    if (!hasPlainLineEnds(bytes.subarray(this.#scanned, end))) return undefined;
    let at = this.#isBegun ? this.#scanned : startOf(bytes);
    this.#isBegun = true;
    const line = new LineCursor(bytes);
    let layout = before;
    while (at < end) {
      const nextAt = line.moveTo(at);
      const next = stepLine(layout, line);
      if (next === undefined) return undefined;
      if (next !== layout && (next.kind === "chart" || layout.kind === "chart"))
        this.#closePart(nameIn(layout), at);
      layout = next;
      at = nextAt;
    }
    this.#scanned = at;
    return layout;
  }

  #closePart(name: string | undefined, end: number): void {
    if (end > this.#partStart) this.#onPart(name, this.#bytes.subarray(this.#partStart, end));
    this.#partStart = end;
  }
}

function nameIn(layout: Layout): string | undefined {
  return layout.kind === "chart" ? layout.name : undefined;
}

/** One line at a time, decoded only where the layout depends on its text: an object for each line takes a quarter longer. */
class LineCursor implements LayoutLine {
  indent: number | undefined = -1;
  readonly #bytes: Uint8Array;
  /** Where the text of the line starts and ends. */
  #first = 0;
  #end = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Moves to the line at `start`; returns where the next one starts. */
  moveTo(start: number): number {
    const bytes = this.#bytes;
    const found = bytes.indexOf(LF, start);
    let end = found === -1 ? bytes.length : found;
    if (end > start && bytes[end - 1] === CR) end--;
    let first = start;
    while (first < end && bytes[first] === SPACE) first++;
    this.#first = first;
    this.#end = end;
    if (first === end || bytes[first] === HASH) this.indent = -1;
    else this.indent = bytes[first] === TAB ? undefined : first - start;
    return found === -1 ? bytes.length : found + 1;
  }

  get isItem(): boolean {
    const bytes = this.#bytes;
    const second = this.#first + 1;
    return bytes[this.#first] === DASH && (second === this.#end || bytes[second] === SPACE);
  }

  get content(): string {
    const end = Math.min(this.#end, this.#first - (this.indent ?? 0) + maxKeyBytes);
    return text.decode(this.#bytes.subarray(this.#first, end));
  }
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
