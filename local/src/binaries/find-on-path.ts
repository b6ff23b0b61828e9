/** Finds a program on the PATH whose version is accepted. */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Tool } from "./tools.ts";

const run = promisify(execFile);
const versionTimeoutMs = 10_000;

/** The first program on the path with an accepted version. */
export async function findOnPath(tool: Tool, path: readonly string[]): Promise<string | undefined> {
  for (const dir of new Set(path)) {
    const candidate = join(dir, tool.name);
    if ((await isExecutable(candidate)) && isAccepted(tool, await versionOf(tool, candidate)))
      return candidate;
  }
  return undefined;
}

/** Whether the version that a program reports is accepted. */
export function isAccepted(
  tool: Pick<Tool, "accept" | "version">,
  found: string | undefined,
): boolean {
  if (found === undefined) return false;
  const parts = tool.accept === "major" ? 1 : 2;
  const expected = tool.version.replace(/^v/, "").split(".").slice(0, parts);
  return found.split(".").slice(0, parts).join(".") === expected.join(".");
}

async function versionOf(tool: Tool, candidate: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(candidate, tool.versionArguments, {
      timeout: versionTimeoutMs,
      env: {},
    });
    return tool.versionPattern.exec(stdout)?.[1];
  } catch {
    return undefined; // Another program with the same name may not know these arguments.
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
