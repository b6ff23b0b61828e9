/**
 * Records on disk of the Helm processes that run. They outlive an agent that is killed, unless its container ends with it; the
 * next process with the same data directory kills them.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { killGroup } from "@flotilla/shared/process";
import * as z from "zod";
import { isSameProcess, startOfProcess } from "./process-start.ts";

/** Version 0.1.0 wrote more, which is ignored, and no process before it had started. */
const recordSchema = z.object({
  process: z.object({ pid: z.number().int().min(2), startedAt: z.string() }).optional(),
});

export interface ProcessRecords {
  /** Kills the processes of an earlier agent. Must be awaited before Helm is run. */
  recover(): Promise<void>;
  /** Never rejects. */
  started(pid: number): Promise<void>;
  /** Never rejects. */
  ended(pid: number): Promise<void>;
}

export function createProcessRecords(dir: string, log: Log): ProcessRecords {
  const path = (pid: number): string => join(dir, `${pid}.json`);

  async function recoverOne(file: string): Promise<void> {
    const { process } = recordSchema.parse(JSON.parse(await readFile(file, "utf8")));
    if (process === undefined || !(await isSameProcess(process))) return;
    log.warn({ pid: process.pid }, "killing the helm process of an earlier agent");
    killGroup(process.pid, "SIGKILL");
  }

  return {
    async recover() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      for (const name of await readdir(dir)) {
        const file = join(dir, name);
        try {
          if (name.endsWith(".json")) await recoverOne(file);
        } catch (thrown) {
          log.warn(
            { file, err: messageOf(thrown) },
            "record of a helm process is not readable, deleting it",
          );
        }
        await rm(file, { force: true });
      }
    },
    async started(pid) {
      const startedAt = await startOfProcess(pid);
      if (startedAt === undefined) return;
      try {
        const record = JSON.stringify({ process: { pid, startedAt } });
        await writeFile(`${path(pid)}.new`, record, { mode: 0o600 });
        await rename(`${path(pid)}.new`, path(pid));
      } catch (thrown) {
        log.warn(
          { pid, err: messageOf(thrown) },
          "a helm process was not recorded on disk; it is not ended if this agent is killed",
        );
      }
    },
    ended: (pid) =>
      rm(path(pid), { force: true }).catch((thrown: unknown) =>
        log.warn({ pid, err: messageOf(thrown) }, "record of a helm process was not deleted"),
      ),
  };
}
