/**
 * An index as it is kept: each chart's part compressed by itself, in one buffer that can be handed between threads.
 * A 20 MB index takes a fraction of itself, and looking up one chart unpacks that chart alone.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { cutIndex } from "./index-cut.ts";
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

/** Packs the text of an index. `parseAll` is for an index whose cut turned out to be wrong. Throws what is wrong with it. */
export function packIndex(text: Uint8Array, options: { readonly parseAll: boolean }): PackedIndex {
  const cut = options.parseAll || startsAsJson(text) ? undefined : cutIndex(text);
  if (cut !== undefined) {
    return pack("lines", cut.blocks, ({ start, end }) => text.subarray(start, end));
  }
  const { charts } = parseIndexDocument(text);
  return pack("entries", charts, (value, name) =>
    Buffer.from(JSON.stringify(readChartEntries(name, value))),
  );
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
  // Written by packIndex above, in this process.
  return JSON.parse(unpacked.toString("utf8")) as ChartEntries;
}

function pack<V>(
  form: PackedIndex["form"],
  parts: ReadonlyMap<string, V>,
  toBytes: (value: V, name: string) => Uint8Array,
): PackedIndex {
  const ends = new Uint32Array(parts.size);
  const sizes = new Uint32Array(parts.size);
  const chunks: Buffer[] = [];
  let length = 0;
  let at = 0;
  for (const [name, value] of parts) {
    const part = toBytes(value, name);
    const chunk = deflateRawSync(part, { level: 1 });
    chunks.push(chunk);
    length += chunk.length;
    ends[at] = length;
    sizes[at] = part.length;
    at++;
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return { form, names: [...parts.keys()], ends, sizes, bytes };
}

function startsAsJson(text: Uint8Array): boolean {
  const first = text.find((byte) => byte > 0x20);
  return first === 0x7b;
}
