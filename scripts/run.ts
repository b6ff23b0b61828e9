/** Runs the tools of the project for the scripts beside this file. */
import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a command whose output goes to this terminal; resolves to its exit code. */
export async function run(command: string, args: readonly string[]): Promise<number> {
  return await exitCode(start(command, args, "inherit"));
}

/** Runs a command; resolves to its exit code and its output. */
export async function runQuietly(
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const child = start(command, args, "pipe");
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await exitCode(child);
  return { code, output: Buffer.concat(chunks).toString("utf8") };
}

function start(command: string, args: readonly string[], output: "inherit" | "pipe"): ChildProcess {
  const bin = join(root, "node_modules", ".bin");
  return spawn(command, args, {
    cwd: root,
    stdio: ["ignore", output, output],
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` },
  });
}

/** Resolves when the process has ended and its output is complete. */
async function exitCode(child: ChildProcess): Promise<number> {
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
  });
}
