/**
 * Who a process is. A pid alone says nothing after a crash or a restart of the machine: the kernel hands it out again.
 * Together with the time at which the process started it names one process for ever.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Names one process. `startedAt` is opaque: only ever compared for equality. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

const run = promisify(execFile);

/** The identity of the process that has this pid now; `undefined` when none has it. A zombie counts as gone. */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  const startedAt =
    process.platform === "linux" ? await startFromProc(pid) : await startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether the very process that was named is still running. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const now = await identityOf(identity.pid);
  return now !== undefined && now.startedAt === identity.startedAt;
}

async function startFromProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the command in brackets and may hold anything, so fields are counted from the last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const ticks = fields[19];
  if (ticks === undefined || state === "Z" || state === "X") return undefined;
  // Ticks count from the boot, so the boot belongs to the identity.
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
    return undefined; // ps ends with 1 when there is no such process.
  }
}
