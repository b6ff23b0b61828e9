/** The start time of a process, which identifies it together with its pid, because pids are reused. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Opaque, for comparison only; undefined if there is no such process. */
export async function startOfProcess(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    if (stat === undefined) return undefined;
    // The second field is the command in parentheses and may contain any character: count from the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  }
  const listed = await run("ps", ["-o", "lstart=", "-p", String(pid)]).catch(() => undefined);
  const startedAt = listed?.stdout.trim();
  return startedAt === "" ? undefined : startedAt;
}

export async function isSameProcess({
  pid,
  startedAt,
}: {
  readonly pid: number;
  readonly startedAt: string;
}): Promise<boolean> {
  return (await startOfProcess(pid)) === startedAt;
}
