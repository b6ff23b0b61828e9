/** Ends one process, and only the one that is meant. */
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, type ProcessIdentity } from "./identity.ts";

const pollMs = 20;

export interface EndOptions {
  /** How long the process may take after SIGTERM before it is killed. */
  readonly graceMs?: number;
}

/** What became of the process: `gone` was not running (or its pid is somebody else's by now). */
export type EndOutcome = "gone" | "ended" | "killed";

/**
 * SIGTERM, then SIGKILL for the process group after the grace. Works for any process of this user, child or not; the
 * identity is checked before each signal, so a pid that was handed out again is left alone.
 */
export async function endProcess(
  identity: ProcessIdentity,
  options: EndOptions = {},
): Promise<EndOutcome> {
  if (!(await isAlive(identity))) return "gone";
  signal(identity.pid, "SIGTERM");
  if (await waitUntilGone(identity, options.graceMs ?? 10_000)) return "ended";
  // While the leader is alive its group id cannot belong to anybody else.
  signal(-identity.pid, "SIGKILL");
  signal(identity.pid, "SIGKILL");
  await waitUntilGone(identity, 5_000);
  return "killed";
}

/** Resolves to true when the process is gone, to false when it still runs after `timeoutMs`. */
export async function waitUntilGone(
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
    // ESRCH: it ended in between, which is what was wanted; EPERM cannot be helped and shows as still alive.
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
