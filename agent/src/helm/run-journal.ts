/**
 * A journal on disk of the Helm runs in progress. After a crash the agent kills the processes that still run, and identifies
 * the locked releases of its own runs.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { z } from "zod";
import { isSameProcess, startOfProcess } from "./process-start.ts";

const entrySchema = z.object({
  deployment: z.string(),
  namespace: z.string(),
  release: z.string(),
  revision: z.number().int(),
  /** Helm creates another revision when it fails, to roll back. */
  rollsBack: z.boolean().default(false),
  /** Of the release that it installs, as in the inventory. */
  digest: z.string().optional(),
  origin: z.string().optional(),
  chartDigest: z.string().optional(),
  /** Of the Helm process; absent until it has started. */
  process: z.object({ pid: z.number().int().min(2), startedAt: z.string() }).optional(),
});

export type RunEntry = Readonly<z.infer<typeof entrySchema>>;

export interface RunJournal {
  /** Kills Helm processes of an earlier agent, and loads their entries. */
  recover(): Promise<void>;
  /** The entry of a run that was interrupted. */
  get(deployment: string): RunEntry | undefined;
  /** Must be awaited before Helm is started. */
  begin(entry: RunEntry): Promise<void>;
  /** Adds the process of the run. */
  started(deployment: string, pid: number): Promise<void>;
  /** The run has ended and its release is not locked. */
  end(deployment: string): Promise<void>;
}

export function createRunJournal(dir: string, log: Log): RunJournal {
  const entries = new Map<string, RunEntry>();
  const path = (deployment: string): string =>
    join(dir, `${createHash("sha256").update(deployment).digest("hex").slice(0, 32)}.json`);

  async function write(entry: RunEntry): Promise<void> {
    entries.set(entry.deployment, entry);
    const file = path(entry.deployment);
    await writeFile(`${file}.new`, JSON.stringify(entry), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  return {
    async recover() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      for (const file of await readdir(dir)) {
        if (!file.endsWith(".json")) continue;
        try {
          const entry = entrySchema.parse(JSON.parse(await readFile(join(dir, file), "utf8")));
          entries.set(entry.deployment, entry);
          if (entry.process !== undefined && (await isSameProcess(entry.process))) {
            log.warn(
              { deployment: entry.deployment, pid: entry.process.pid },
              "killing the helm process of an earlier agent",
            );
            process.kill(-entry.process.pid, "SIGKILL");
          }
        } catch (thrown) {
          log.warn(
            { file, err: messageOf(thrown) },
            "journal entry of a helm run is not readable, deleting it",
          );
          await rm(join(dir, file), { force: true });
        }
      }
    },
    get: (deployment) => entries.get(deployment),
    begin: write,
    async started(deployment, pid) {
      const entry = entries.get(deployment);
      const startedAt = await startOfProcess(pid);
      if (entry !== undefined && startedAt !== undefined)
        await write({ ...entry, process: { pid, startedAt } });
    },
    async end(deployment) {
      if (!entries.delete(deployment)) return;
      await rm(path(deployment), { force: true });
    },
  };
}
