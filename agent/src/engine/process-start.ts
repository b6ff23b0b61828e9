/** When a process started: with its pid that names it for good, as pids are handed out again. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Opaque, compared for equality only; undefined when there is no such process. */
export async function startOfProcess(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    if (stat === undefined) return undefined;
    // The second field is the command in brackets and may hold anything: count from the last bracket.
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
