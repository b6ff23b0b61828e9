/** The contents of objects, as `git cat-file --batch` prints them, one after the other. */
import type { Readable } from "node:stream";

export interface ObjectReader {
  /** The next object: its size before its content is read. Undefined when git does not have it. */
  next(): Promise<{ readonly sizeBytes: number } | undefined>;
  /** The content of the object that `next` told, in chunks. */
  content(): AsyncGenerator<Buffer>;
}

export function createObjectReader(output: Readable): ObjectReader {
  const chunks = (output as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let size = 0;

  /** False at the end of the output. */
  async function more(): Promise<boolean> {
    const result = await chunks.next();
    if (result.done === true) return false;
    rest = rest.length === 0 ? result.value : Buffer.concat([rest, result.value]);
    return true;
  }

  return {
    async next() {
      let end = rest.indexOf(0x0a);
      while (end < 0) {
        if (!(await more())) throw new Error("git ended before the last object");
        end = rest.indexOf(0x0a);
      }
      const header = rest.subarray(0, end).toString();
      rest = rest.subarray(end + 1);
      const [, digits] = /^\S+ \w+ (\d+)$/.exec(header) ?? [];
      if (digits === undefined) return undefined;
      size = Number(digits);
      return { sizeBytes: size };
    },
    async *content() {
      let left = size;
      while (left > 0) {
        if (rest.length === 0 && !(await more())) throw new Error("git ended within an object");
        const part = rest.subarray(0, left);
        rest = rest.subarray(part.length);
        left -= part.length;
        yield part;
      }
      // A line end follows each object.
      if (rest.length === 0) await more();
      rest = rest.subarray(1);
    },
  };
}
