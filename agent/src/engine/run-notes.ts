/**
 * Notes on disk of the Helm runs that are under way. An agent that was killed finds them at its next start: it ends what
 * is still running and knows which locks are its own.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { z } from "zod";
import { isSameProcess, startOfProcess } from "./process-start.ts";

const noteSchema = z.object({
  deployment: z.string(),
  namespace: z.string(),
  release: z.string(),
  revision: z.number().int(),
  /** Whether Helm, when it fails, makes another revision by which it goes back. */
  rollsBack: z.boolean().default(false),
  /** Of the Helm process; absent until it has started. */
  process: z.object({ pid: z.number().int().min(2), startedAt: z.string() }).optional(),
});

export type RunNote = Readonly<z.infer<typeof noteSchema>>;

export interface RunNotes {
  /** Ends Helm processes that an earlier agent left behind, and remembers what they were making. */
  recover(): Promise<void>;
  /** The note of a run that was cut off. */
  of(deployment: string): RunNote | undefined;
  /** To be awaited before Helm is started. */
  begin(note: RunNote): Promise<void>;
  /** The process that carries the run out. */
  started(deployment: string, pid: number): Promise<void>;
  /** The run ended and its record is as it should be. */
  end(deployment: string): Promise<void>;
}

export function createRunNotes(dir: string, log: Log): RunNotes {
  const notes = new Map<string, RunNote>();
  const path = (deployment: string): string =>
    join(dir, `${createHash("sha256").update(deployment).digest("hex").slice(0, 32)}.json`);

  async function write(note: RunNote): Promise<void> {
    notes.set(note.deployment, note);
    const file = path(note.deployment);
    await writeFile(`${file}.new`, JSON.stringify(note), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  return {
    async recover() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      for (const file of await readdir(dir)) {
        if (!file.endsWith(".json")) continue;
        try {
          const note = noteSchema.parse(JSON.parse(await readFile(join(dir, file), "utf8")));
          notes.set(note.deployment, note);
          if (note.process !== undefined && (await isSameProcess(note.process))) {
            log.warn(
              { deployment: note.deployment, pid: note.process.pid },
              "ending the helm process of an earlier agent",
            );
            process.kill(-note.process.pid, "SIGKILL");
          }
        } catch (thrown) {
          log.warn(
            { file, err: messageOf(thrown) },
            "note of a helm run is not readable and is dropped",
          );
          await rm(join(dir, file), { force: true });
        }
      }
    },
    of: (deployment) => notes.get(deployment),
    begin: write,
    async started(deployment, pid) {
      const note = notes.get(deployment);
      const startedAt = await startOfProcess(pid);
      if (note !== undefined && startedAt !== undefined)
        await write({ ...note, process: { pid, startedAt } });
    },
    async end(deployment) {
      if (!notes.delete(deployment)) return;
      await rm(path(deployment), { force: true });
    },
  };
}
