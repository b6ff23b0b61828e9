/** Ends one process, identified by its pid and start time. */
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, type ProcessIdentity } from "./identity.ts";

const pollMs = 20;

export interface EndOptions {
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
}

/** `not-running`: there was no such process, or another process reuses its pid. */
export type EndOutcome = "not-running" | "ended" | "killed";

/**
 * Sends SIGTERM, and after the grace period SIGKILL to the process group. Works for any process of this user, child or not.
 * The identity is checked before each signal, so a process that reuses the pid gets none.
 */
export async function endProcess(
  identity: ProcessIdentity,
  options: EndOptions = {},
): Promise<EndOutcome> {
  if (!(await isAlive(identity))) return "not-running";
  signal(identity.pid, "SIGTERM");
  // A stopped process sees it only then.
  signal(identity.pid, "SIGCONT");
  if (await waitUntilEnded(identity, options.graceMs ?? 10_000)) return "ended";
  // While the group leader is alive, its group id cannot be reused.
  signal(-identity.pid, "SIGKILL");
  signal(identity.pid, "SIGKILL");
  await waitUntilEnded(identity, 5_000);
  return "killed";
}

/** Whether the process ended within `timeoutMs`. */
export async function waitUntilEnded(
  identity: ProcessIdentity,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isAlive(identity)) {
    if (performance.now() >= deadline) return false;
    await sleep(pollMs);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (thrown) {
    // ESRCH: it has ended. EPERM: it keeps running, which the caller detects.
    if (
      !(
        thrown instanceof Error &&
        "code" in thrown &&
        (thrown.code === "ESRCH" || thrown.code === "EPERM")
      )
    )
      throw thrown;
  }
}
