/** Identifies a process by pid and start time, because the kernel reuses pids after a crash or a reboot. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Identifies one process. `startedAt` is opaque; compare it for equality only. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

const run = promisify(execFile);

/** The identity of the process with this pid; `undefined` when there is none. A zombie does not count. */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  const startedAt =
    process.platform === "linux" ? await startFromProc(pid) : await startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether the identified process is still running. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const current = await identityOf(identity.pid);
  return current !== undefined && current.startedAt === identity.startedAt;
}

async function startFromProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the command in parentheses and may contain spaces; count fields after the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const ticks = fields[19];
  if (ticks === undefined || state === "Z" || state === "X") return undefined;
  // Ticks count from the boot, so the boot id is part of the identity.
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return `${boot.trim()}:${ticks}`;
}

async function startFromPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      env: { LC_ALL: "C" },
    });
    const line = stdout.trim();
    return line === "" || line.startsWith("Z") ? undefined : line.replace(/^\S+\s+/, "");
  } catch {
    return undefined; // ps exits with 1 when there is no such process.
  }
}
