/**
 * An index as it is cached: the parts of the charts, compressed one by one, in one buffer that can be transferred between
 * threads. A 20 MB index takes a fraction of its size, and reading one chart decompresses that chart only. Pure.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { describeBytes } from "../transport/index.ts";
import { IndexCutter } from "./index-cut.ts";
import { parseChartBlock, parseIndexDocument } from "./index-document.ts";
import { type ChartEntries, readChartEntries } from "./index-entry.ts";

export interface PackedIndex {
  /** The content of each part: the lines of the index, or the entries as JSON. */
  readonly form: "lines" | "entries";
  readonly names: readonly string[];
  /** Part i is `bytes.subarray(ends[i - 1], ends[i])`. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The sizes of the uncompressed parts. */
  readonly sizes: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface PackOptions {
  /** Parse the index as a whole, because its cut turned out to be wrong. */
  readonly parseAll: boolean;
  /** The limit of an index that does not have the plain layout, which has to be in memory as a whole. */
  readonly maxWholeBytes: number;
}

/** Packs an index while it arrives; its text is in memory as a whole only if it has to be parsed as a whole. */
export interface IndexPacker {
  /** Throws an Error that says what is wrong with the text. The bytes must not change afterwards. */
  add(bytes: Uint8Array): void;
  /** Throws an Error that says what is wrong with the text. */
  finish(): PackedIndex;
}

/** Several times as many as all public charts: each costs memory of its own. */
const maxCharts = 50_000;

interface Part {
  readonly name: string | undefined;
  readonly deflated: Buffer;
  readonly sizeBytes: number;
}

export function createIndexPacker({ parseAll, maxWholeBytes }: PackOptions): IndexPacker {
  let parts: Part[] = [];
  /** The text, when it has to be parsed as a whole. */
  let whole: Uint8Array[] | undefined = parseAll ? [] : undefined;
  let sizeBytes = 0;
  const cutter = new IndexCutter((name, bytes) => {
    if (parts.length >= maxCharts) throw tooManyCharts();
    parts.push(partFrom(name, bytes));
  });

  function checkSize(): void {
    if (sizeBytes <= maxWholeBytes) return;
    throw new Error(
      `it does not have the layout that helm repo index writes, and is larger than ${describeBytes(maxWholeBytes)}, the limit for other layouts`,
    );
  }

  /** Restores the text from the parts, to parse it as a whole. */
  function restoreText(): void {
    checkSize();
    whole = [...parts.map(({ deflated }) => inflateRawSync(deflated)), cutter.rest()];
    parts = [];
  }

  return {
    add(bytes) {
      if (sizeBytes === 0 && startsAsJson(bytes)) whole = [];
      sizeBytes += bytes.length;
      if (whole !== undefined) {
        checkSize();
        whole.push(bytes);
      } else if (!cutter.add(bytes)) restoreText();
    },
    finish() {
      if (whole === undefined && cutter.finish()) {
        // The last of two charts with one name wins, as in a full parse.
        const named = new Map(parts.map((part) => [part.name, part]));
        named.delete(undefined);
        return packed("lines", [...named.values()]);
      }
      if (whole === undefined) restoreText();
      const text = Buffer.concat(whole ?? []);
      whole = undefined;
      const { charts } = parseIndexDocument(text);
      if (charts.size > maxCharts) throw tooManyCharts();
      return packed(
        "entries",
        [...charts].map(([name, value]) =>
          partFrom(name, Buffer.from(JSON.stringify(readChartEntries(name, value)))),
        ),
      );
    },
  };
}

function tooManyCharts(): Error {
  return new Error(`it has more than ${maxCharts} charts`);
}

/** The part of one chart. */
export interface PackedPart {
  readonly form: PackedIndex["form"];
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The part of chart number `at`. */
export function partOf(index: PackedIndex, at: number): PackedPart {
  const start = at === 0 ? 0 : index.ends[at - 1];
  return {
    form: index.form,
    name: index.names[at] ?? "",
    bytes: index.bytes.subarray(start, index.ends[at]),
  };
}

/** The entries of a chart; undefined when the cut was wrong. */
export function readPart(part: PackedPart): ChartEntries | undefined {
  const unpacked = inflateRawSync(part.bytes);
  if (part.form === "lines") return parseChartBlock(part.name, unpacked);
  // Written by the packer above, so its shape is certain.
  return JSON.parse(unpacked.toString("utf8")) as ChartEntries;
}

function partFrom(name: string | undefined, bytes: Uint8Array): Part {
  return { name, deflated: deflateRawSync(bytes, { level: 1 }), sizeBytes: bytes.length };
}

function packed(form: PackedIndex["form"], parts: readonly Part[]): PackedIndex {
  const bytes = new Uint8Array(parts.reduce((sum, { deflated }) => sum + deflated.length, 0));
  const ends = new Uint32Array(parts.length);
  const sizes = new Uint32Array(parts.length);
  let length = 0;
  for (const [at, { deflated, sizeBytes }] of parts.entries()) {
    bytes.set(deflated, length);
    length += deflated.length;
    ends[at] = length;
    sizes[at] = sizeBytes;
  }
  return { form, names: parts.map(({ name = "" }) => name), ends, sizes, bytes };
}

function startsAsJson(text: Uint8Array): boolean {
  const first = text.find((byte) => byte > 0x20);
  return first === 0x7b;
}
