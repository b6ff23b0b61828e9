/** Whether a program runs without another file, as programs in the agent's sandbox have to: no loader and no interpreter may start there. */
import { type FileHandle, open } from "node:fs/promises";

const headerBytes = 64;
/** Offsets in the header of a 64-bit ELF file. */
const offsets = { class: 4, tableOffset: 32, entryBytes: 54, entries: 56 } as const;
const class64 = 2;
/** The type of the entry that names the loader. */
const interpreter = 3;

/** True of a statically linked program of 64-bit Linux, and false of a script. */
export async function isStandalone(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const header = await readAt(file, 0, headerBytes);
    const isElf = header.length === headerBytes && header.toString("latin1", 0, 4) === "\x7fELF";
    if (!isElf || header.readUInt8(offsets.class) !== class64) return false;
    const entryBytes = header.readUInt16LE(offsets.entryBytes);
    const count = header.readUInt16LE(offsets.entries);
    const start = Number(header.readBigUInt64LE(offsets.tableOffset));
    const table = await readAt(file, start, entryBytes * count);
    const types = Array.from({ length: count }, (_, at) => typeAt(table, at * entryBytes));
    return !types.includes(interpreter);
  } finally {
    await file.close();
  }
}

function typeAt(table: Buffer, offset: number): number | undefined {
  return offset + 4 <= table.length ? table.readUInt32LE(offset) : undefined;
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
