/** Waits for a line in the log of a process. */
import { watch } from "node:fs";
import { readFile } from "node:fs/promises";

const patienceMs = 30_000;

/** A line as it was written: JSON. */
export async function logLine(file: string, ...patterns: readonly RegExp[]): Promise<string> {
  const over = AbortSignal.timeout(patienceMs);
  for (;;) {
    // Watched before it is read, so that nothing is written in between unseen.
    const changed = changeOf(file, over);
    const lines = (await readFile(file, "utf8")).split("\n");
    const found = lines.find((line) => patterns.every((pattern) => pattern.test(line)));
    if (found !== undefined) {
      changed.forget();
      return found;
    }
    await changed.promise;
    if (over.aborted)
      throw new Error(
        `waited ${patienceMs / 1000} s for ${patterns.join()} in ${file}: ${lines.slice(-20).join("\n")}`,
      );
  }
}

function changeOf(file: string, over: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(file, () => forget());
  const forget = (): void => {
    watcher.close();
    resolve();
  };
  if (over.aborted) forget();
  else over.addEventListener("abort", forget, { once: true });
  return { promise, forget };
}
