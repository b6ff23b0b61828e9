/** What was done and what happened, in order and with times: what a person needs to understand a run that failed. */
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { TestFleet } from "../harness/fleet.ts";

export interface Chronicle {
  note(what: string): void;
  /** All of it, one event a line. */
  told(): string;
  /** Runs `work`; where that fails, the logs are kept and the error says where, with the seed and all that happened. */
  guard(work: () => Promise<void>): Promise<void>;
}

export function createChronicle(fleet: TestFleet, seed: number): Chronicle {
  const began = performance.now();
  const lines: string[] = [];

  function note(what: string): void {
    const seconds = ((performance.now() - began) / 1_000).toFixed(2);
    lines.push(`${seconds.padStart(8)} s ${new Date().toISOString()} ${what}`);
  }

  const told = () => lines.join("\n");

  return {
    note,
    told,
    async guard(work) {
      try {
        await work();
      } catch (thrown) {
        const kept = await keepLogs(fleet);
        throw new Error(
          `FLOTILLA_FAULTS_SEED=${seed}; the logs are in ${kept}; what happened:\n${told()}`,
          { cause: thrown },
        );
      }
    },
  };
}

/** The fleet's folder goes with the test: what the processes have said is copied to one that stays. */
async function keepLogs(fleet: TestFleet): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), "flotilla-faults-"));
  const planes = [fleet.hubPlane, ...fleet.clusters.map(({ plane }) => plane)];
  await cp(join(fleet.dir, "logs"), join(kept, "logs"), { recursive: true });
  for (const { dir } of planes)
    await cp(join(dir, "logs"), join(kept, basename(dir)), { recursive: true });
  return kept;
}
