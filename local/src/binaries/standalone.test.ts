import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { testDir } from "../testing/index.ts";
import { isStandalone } from "./standalone.ts";

const [loaded, interpreter, stack] = [1, 3, 0x6474e551];

/** An ELF file with entries of these types. */
function elf(...types: readonly number[]): Buffer {
  const header = Buffer.alloc(64);
  header.write("\x7fELF\x02", "latin1");
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(types.length, 56);
  const entries = types.map((type) => {
    const entry = Buffer.alloc(56);
    entry.writeUInt32LE(type);
    return entry;
  });
  return Buffer.concat([header, ...entries]);
}

const cases: readonly (readonly [string, Buffer | string, boolean])[] = [
  ["a statically linked program", elf(loaded, stack), true],
  ["a program that needs a loader", elf(loaded, interpreter, stack), false],
  ["a script", "#!/bin/sh\nexit 0\n", false],
  ["a file that is cut off", elf(loaded).subarray(0, 40), false],
  ["an empty file", "", false],
];
for (const [what, bytes, expected] of cases)
  test(`${what} ${expected ? "runs" : "does not run"} without another file`, async (t) => {
    const path = join(await testDir(t), "program");
    await writeFile(path, bytes);

    assert.equal(await isStandalone(path), expected);
  });
