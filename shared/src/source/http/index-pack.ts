/**
 * An index as it is kept: each chart's part compressed by itself, in one buffer that can be handed between threads.
 * A 20 MB index takes a fraction of itself, and looking up one chart unpacks that chart alone.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { describeBytes } from "../transport/body.ts";
import { createIndexCutter } from "./index-cut.ts";
import { parseChartBlock, parseIndexDocument } from "./index-document.ts";
import { type ChartEntries, readChartEntries } from "./index-entry.ts";

export interface PackedIndex {
  /** What each part holds: the lines of the index as they were, or the entries as JSON. */
  readonly form: "lines" | "entries";
  readonly names: readonly string[];
  /** Part i is `bytes.subarray(ends[i - 1], ends[i])`. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Of the parts before they were compressed. */
  readonly sizes: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface PackOptions {
  /** For an index whose cut turned out to be wrong. */
  readonly parseAll: boolean;
  /** More is not held at once: what is not of the plain shape has to be. */
  readonly maxWholeBytes: number;
}

/** Packs an index while it arrives, so that its text is never in memory as a whole unless it has to be parsed as one. */
export interface IndexPacker {
  /** Throws what is wrong with the text. The bytes must not change afterwards. */
  add(bytes: Uint8Array): void;
  /** Throws what is wrong with the text. */
  finish(): PackedIndex;
}

interface Part {
  readonly name: string | undefined;
  readonly deflated: Buffer;
  readonly sizeBytes: number;
}

export function createIndexPacker({ parseAll, maxWholeBytes }: PackOptions): IndexPacker {
  let parts: Part[] = [];
  /** The text, once it has to be parsed as a whole. */
  let whole: Uint8Array[] | undefined = parseAll ? [] : undefined;
  let sizeBytes = 0;
  const cutter = createIndexCutter((name, bytes) => parts.push(partFrom(name, bytes)));

  function checkSize(): void {
    if (sizeBytes <= maxWholeBytes) return;
    throw new Error(
      `it is not laid out as helm repo index does it, and larger than ${describeBytes(maxWholeBytes)}, too large to be read in another layout`,
    );
  }

  /** What was cut becomes the text again that it was. */
  function giveUpCutting(): void {
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
      } else if (!cutter.add(bytes)) giveUpCutting();
    },
    finish() {
      if (whole === undefined && cutter.finish()) {
        // Of two charts with one name the last counts, as in a full parse.
        const named = new Map(parts.map((part) => [part.name, part]));
        named.delete(undefined);
        return packed("lines", [...named.values()]);
      }
      if (whole === undefined) giveUpCutting();
      const text = Buffer.concat(whole ?? []);
      whole = undefined;
      const { charts } = parseIndexDocument(text);
      return packed(
        "entries",
        [...charts].map(([name, value]) =>
          partFrom(name, Buffer.from(JSON.stringify(readChartEntries(name, value)))),
        ),
      );
    },
  };
}

/** One chart's part, by itself. */
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

/** A chart's entries from its part; undefined when the cut was wrong. */
export function readPart(part: PackedPart): ChartEntries | undefined {
  const unpacked = inflateRawSync(part.bytes);
  if (part.form === "lines") return parseChartBlock(part.name, unpacked);
  // Written by the packer above, in this process.
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
