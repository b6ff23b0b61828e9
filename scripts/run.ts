/** Runs commands of the project's own tools, for the scripts beside this file. */
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a command with its output on ours; resolves to its exit code. */
export async function run(command: string, args: readonly string[]): Promise<number> {
  const bin = join(root, "node_modules", ".bin");
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` },
  });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
  });
}
