/**
 * Ends processes when this program ends, even when it is killed and can run no code. The reaper is a child process that reads
 * a pipe; the kernel closes the pipe when this program ends, and then the reaper ends all watched processes by identity.
 */
import { spawn } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProcessWatcher } from "./process-record.ts";

/** A watched process ends when this program does. */
export interface Reaper extends ProcessWatcher {
  /** Stops the reaper without ending any process. */
  release(): Promise<void>;
}

/** Starts a reaper, which does not keep this program alive. */
export function startReaper(): Reaper {
  const program = fileURLToPath(new URL("./reaper-main.ts", import.meta.url));
  const cache = getCompileCacheDir();
  const child = spawn(process.execPath, [program], {
    detached: true,
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  const pipe = child.stdin;
  if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
  // Without a reaper the program still ends its processes when it exits normally.
  child.once("error", () => undefined);
  pipe.on("error", () => undefined);
  return {
    watch(record) {
      pipe.write(`${JSON.stringify({ watch: record })}\n`);
    },
    async release() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.ref();
      pipe.end(`${JSON.stringify({ release: true })}\n`);
      await exited;
    },
  };
}
