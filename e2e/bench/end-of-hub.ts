/** What is measured of a hub ends with it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestFleet } from "../src/testing/fleet.ts";

/** Rejects when a hub gives up: nobody starts it anew, and what is waited for would never come. */
export async function endOfHub({
  fleet,
}: {
  readonly fleet: Pick<TestFleet, "hubProcess" | "hubLog">;
}): Promise<never> {
  for (;;) {
    const hub = fleet.hubProcess();
    const { code } = await hub.exited;
    // A signal is sent by nobody but the bench.
    if (code !== 0 && code !== null)
      throw new Error(`the hub ended while it was measured, see ${fleet.hubLog}`);
    // A part that stops it on purpose starts it again.
    while (fleet.hubProcess() === hub) await sleep(100, undefined, { ref: false });
  }
}
