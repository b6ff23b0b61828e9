/** Runs the tools of the project for the scripts beside this file. */
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a command; resolves to its exit code and its output. */
export async function run(
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const bin = join(root, "node_modules", ".bin");
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` },
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, signal) => resolve(exitCode ?? (signal === null ? 1 : 128)));
  });
  return { code, output: Buffer.concat(chunks).toString("utf8") };
}
