/** What a process that runs tells in its log. */
import { watch } from "node:fs";
import { readFile } from "node:fs/promises";

const patienceMs = 60_000;

/** How much is in the file now: what a test does next is told behind it. */
export async function endOfLog(file: string): Promise<number> {
  return (await readFile(file, "utf8")).length;
}

/** All lines behind `from`. */
export async function logLines(file: string, from: number): Promise<readonly string[]> {
  return (await readFile(file, "utf8")).slice(from).split("\n");
}

/** Resolves with the first line behind `from` that matches all patterns, as soon as it is written. */
export async function lineInLog(
  file: string,
  from: number,
  ...patterns: readonly RegExp[]
): Promise<string> {
  let look = (): void => undefined;
  // Watched before it is read, so that nothing is written in between unseen.
  const watcher = watch(file, () => look());
  const giveUp = AbortSignal.timeout(patienceMs);
  giveUp.addEventListener("abort", () => look());
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        look = resolve;
      });
      const lines = await logLines(file, from);
      const found = lines.find((line) => patterns.every((pattern) => pattern.test(line)));
      if (found !== undefined) return found;
      if (giveUp.aborted) {
        const waited = `waited ${patienceMs / 1000} s for ${patterns.join(" ")} in ${file}`;
        throw new Error(`${waited}:\n${lines.slice(-20).join("\n")}`);
      }
      await changed;
    }
  } finally {
    watcher.close();
  }
}
