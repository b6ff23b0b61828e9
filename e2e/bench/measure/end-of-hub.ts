/** What is measured of a hub ends with it. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestFleet } from "../../src/harness/fleet.ts";

/** For a hub that is started again on purpose. */
const startMs = 60_000;
const lastLines = 5;

/** Rejects when a hub ends by itself: it is not restarted, and the measurement would never complete. */
export async function endOfHub({
  fleet,
}: {
  readonly fleet: Pick<TestFleet, "hubProcess" | "hubLog">;
}): Promise<never> {
  for (;;) {
    const hub = fleet.hubProcess();
    await hub.exited;
    const endedAt = performance.now();
    // A baseline that is measured without a hub takes as long as it takes.
    const isStopped = hub.exit()?.code === 0;
    while (fleet.hubProcess() === hub) {
      if (!isStopped && performance.now() - endedAt > startMs) {
        const lines = (await readFile(fleet.hubLog, "utf8")).trimEnd().split("\n");
        const end = lines.slice(-lastLines).join("\n");
        throw new Error(`the hub ended while it was measured; its log ends with:\n${end}`);
      }
      await sleep(100, undefined, { ref: false });
    }
  }
}
