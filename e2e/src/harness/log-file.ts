/** The log file of a running process. */
import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hangMs } from "./hang.ts";

/** The length of the file: later lines come after it. */
export async function endOfLog(file: string): Promise<number> {
  return (await readFile(file, "utf8")).length;
}

/** All lines after `from`. */
export async function logLines(file: string, from: number): Promise<readonly string[]> {
  return (await readFile(file, "utf8")).slice(from).split("\n");
}

/** Resolves with the first line after `from` that matches all patterns, as soon as it is written. */
export async function lineInLog(
  file: string,
  from: number,
  ...patterns: readonly RegExp[]
): Promise<string> {
  let lines: readonly string[] = [];
  const matches = (line: string) => patterns.every((pattern) => pattern.test(line));
  await untilFile(
    file,
    async () => {
      lines = await logLines(file, from);
      return lines.some(matches);
    },
    () => `${patterns.join(" ")}:\n${lines.slice(-20).join("\n")}`,
  );
  return lines.find(matches) ?? "";
}

/** Resolves once the condition holds, which is evaluated whenever something is written in the file's folder. */
export async function untilFile(
  file: string,
  condition: () => Promise<boolean>,
  what: () => string = () => condition.toString(),
): Promise<void> {
  let evaluate = (): void => undefined;
  // Watched before the first evaluation, so that no write is missed in between.
  const watcher = watch(dirname(file), () => evaluate());
  const timeout = AbortSignal.timeout(hangMs);
  timeout.addEventListener("abort", () => evaluate());
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        evaluate = resolve;
      });
      if (await condition()) return;
      if (timeout.aborted) throw new Error(`waited ${hangMs / 1000} s for ${file}: ${what()}`);
      await changed;
    }
  } finally {
    watcher.close();
  }
}
