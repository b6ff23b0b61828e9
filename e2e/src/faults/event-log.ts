/** The faults and their effects, in order and with times, for the error of a run that fails. */
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { TestFleet } from "../harness/fleet.ts";

export interface EventLog {
  note(what: string): void;
  /** All of it, one event a line. */
  text(): string;
  /** Runs `work`; when it fails, the logs are kept, and the error has their folder, the seed and all events. */
  guard(work: () => Promise<void>): Promise<void>;
}

export function createEventLog(fleet: TestFleet, seed: number): EventLog {
  const startedAt = performance.now();
  const lines: string[] = [];

  function note(what: string): void {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(2);
    lines.push(`${seconds.padStart(8)} s ${new Date().toISOString()} ${what}`);
  }

  const text = () => lines.join("\n");

  return {
    note,
    text,
    async guard(work) {
      try {
        await work();
      } catch (thrown) {
        const kept = await keepLogs(fleet);
        throw new Error(
          `FLOTILLA_FAULTS_SEED=${seed}; the logs are in ${kept}; what happened:\n${text()}`,
          { cause: thrown },
        );
      }
    },
  };
}

/** The fleet's folder is deleted with the test: its logs are copied to one that stays. */
async function keepLogs(fleet: TestFleet): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), "flotilla-faults-"));
  const planes = [fleet.hubPlane, ...fleet.clusters.map(({ plane }) => plane)];
  await cp(join(fleet.dir, "logs"), join(kept, "logs"), { recursive: true });
  for (const { dir } of planes)
    await cp(join(dir, "logs"), join(kept, basename(dir)), { recursive: true });
  return kept;
}
