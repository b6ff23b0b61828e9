/**
 * Ends processes when this program is gone, however it went: a program that is killed runs no code of its own any more.
 * The reaper is a process that reads a pipe from us; the kernel closes it when we end, and then the reaper ends what it
 * was told about, each by its own identity.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ProcessWatcher } from "./process-record.ts";

/** From `watch` on, a process ends when this program does. */
export interface Reaper extends ProcessWatcher {
  /** The reaper goes without ending anything. */
  release(): Promise<void>;
}

/** Starts a reaper. It does not keep this program alive. */
export function startReaper(): Reaper {
  const program = fileURLToPath(new URL("./reaper-main.ts", import.meta.url));
  const child = spawn(process.execPath, [program], {
    detached: true,
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  const pipe = child.stdin;
  if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
  // A reaper that could not start or was killed protects nobody; what it would have done is a second line of defence.
  child.once("error", () => undefined);
  pipe.on("error", () => undefined);
  return {
    watch(record) {
      pipe.write(`${JSON.stringify({ watch: record })}\n`);
    },
    async release() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.ref();
      pipe.end(`${JSON.stringify({ release: true })}\n`);
      await gone;
    },
  };
}
