/** Reads from /proc what a process uses, and makes it the first to go. On other systems than Linux both do nothing. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { ProcessUsage } from "./limits.ts";

/** Linux reports processor time to programs in hundredths of a second, whatever the kernel uses. */
const tickMs = 10;

/**
 * Undefined if it has ended. Synchronous: /proc is memory, and some 50 µs for each process. The processor time includes the time of
 * child processes which have ended.
 */
export function usageOf(pid: number): ProcessUsage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, kibibytes = "0"] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? [];
    // The second field is the command in parentheses and may contain any character: count from the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return { memoryBytes: Number(kibibytes) * 1024, cpuMs: ticks * tickMs };
  } catch {
    return undefined;
  }
}

/** The process and all that it has started and that run. */
export function withDescendants(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(withDescendants)];
}

function childrenOf(pid: number): readonly number[] {
  try {
    // Each thread has its own.
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      (readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").match(/\d+/g) ?? []).map(
        Number,
      ),
    );
  } catch {
    return [];
  }
}

/** The use of all of them together; undefined if the first has ended. */
export function usageOfAll(pids: readonly number[]): ProcessUsage | undefined {
  const [own, ...others] = pids.map(usageOf);
  if (own === undefined) return undefined;
  return others.reduce<ProcessUsage>(
    (sum, each) => ({
      memoryBytes: sum.memoryBytes + (each?.memoryBytes ?? 0),
      cpuMs: sum.cpuMs + (each?.cpuMs ?? 0),
    }),
    own,
  );
}

/** When memory is short the kernel kills it, and what it starts, before the agent. */
export function killFirst(pid: number): void {
  ignoreEnded(() => writeFileSync(`/proc/${pid}/oom_score_adj`, "1000"));
}

/**
 * `nice`: 0 for a normal process; each step is a tenth less processor time where others need it, up to 19, and below 0 a tenth more,
 * which needs a privilege; without it nothing changes. In a container that is within the container. Elsewhere Linux shares between
 * sessions first (sched(7), autogroup), so the priority of a session that a process leads is changed, too, but to no less than a
 * third: it competes with all programs of a machine there.
 */
export function renice(pid: number, nice: number): void {
  // The priority belongs to each thread; new ones inherit it.
  ignoreEnded(() => {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), nice);
  });
  ignoreEnded(() => {
    if (leadsSession(pid)) writeFileSync(`/proc/${pid}/autogroup`, String(Math.min(nice, 5)));
  });
}

function leadsSession(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // As in `usageOf`: state, parent, process group, session.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3] === String(pid);
}

/** Without these the limits still hold. */
function ignoreEnded(change: () => void): void {
  try {
    change();
  } catch {
    return;
  }
}
