/** Finds a program on the PATH whose version is accepted. */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isStandalone } from "./standalone.ts";
import type { Tool, VersionCheck } from "./tools.ts";

const run = promisify(execFile);
const versionTimeoutMs = 10_000;

/** The first program on the path with an accepted version. */
export async function findOnPath(tool: Tool, path: readonly string[]): Promise<string | undefined> {
  const check = tool.onPath;
  if (check === undefined) return undefined;
  for (const dir of new Set(path)) {
    const candidate = join(dir, tool.name);
    if (!(await isExecutable(candidate))) continue;
    if (mustBeStandalone(check) && !(await isStandalone(candidate))) continue;
    const found = await versionOf(check, candidate);
    if (isAccepted(found, { expected: tool.version, accept: check.accept })) return candidate;
  }
  return undefined;
}

function mustBeStandalone({ standalone }: VersionCheck): boolean {
  return standalone === true && process.platform === "linux";
}

/** Whether the version that a program reports is accepted. */
function isAccepted(
  found: string | undefined,
  { expected, accept }: { readonly expected: string; readonly accept: VersionCheck["accept"] },
): boolean {
  const parts = accept === "major" ? 1 : 2;
  const partsOf = (version: string): string =>
    version.replace(/^v/, "").split(".").slice(0, parts).join(".");
  return found !== undefined && partsOf(found) === partsOf(expected);
}

async function versionOf(check: VersionCheck, candidate: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(candidate, check.arguments, {
      timeout: versionTimeoutMs,
      env: {},
    });
    return check.pattern.exec(stdout)?.[1];
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
