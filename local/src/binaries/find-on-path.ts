/** Looks for a program on the PATH and takes it only when it says that it is the version that fits. */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Tool } from "./tools.ts";

const run = promisify(execFile);
const answerTimeoutMs = 10_000;

/** The first fitting program on the path; one that does not fit is passed over, whatever it is. */
export async function findOnPath(tool: Tool, path: readonly string[]): Promise<string | undefined> {
  for (const dir of new Set(path)) {
    const candidate = join(dir, tool.name);
    if ((await isExecutable(candidate)) && fits(tool, await versionOf(tool, candidate)))
      return candidate;
  }
  return undefined;
}

/** Whether a version that a program gave for itself is good enough. */
export function fits(tool: Pick<Tool, "accept" | "version">, found: string | undefined): boolean {
  if (found === undefined) return false;
  const parts = tool.accept === "major" ? 1 : 2;
  const wanted = tool.version.replace(/^v/, "").split(".").slice(0, parts);
  return found.split(".").slice(0, parts).join(".") === wanted.join(".");
}

async function versionOf(tool: Tool, candidate: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(candidate, tool.versionArguments, {
      timeout: answerTimeoutMs,
      env: {},
    });
    return tool.versionPattern.exec(stdout)?.[1];
  } catch {
    return undefined; // A program that does not know the question is another program.
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
