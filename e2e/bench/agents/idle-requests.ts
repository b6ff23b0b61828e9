/** What an idle fleet asks of the hub's API server. */
import { setTimeout as sleep } from "node:timers/promises";
import { requests, since } from "../standing-costs.ts";
import type { AgentsFleet } from "./agents-fleet.ts";

export interface Asked {
  readonly perMinute: number;
  readonly detail: string;
}

/** Before, everything that is still to be written has its time. */
const settleMs = 5_000;

/** Watches that begin anew when their time is over are no part of it, nor are Leases, Events and the control plane's own. */
export async function idleRequests({ fleet }: AgentsFleet, idleMs: number): Promise<Asked> {
  await sleep(settleMs);
  const before = await requests({ fleet });
  await sleep(idleMs);
  const made = since(before, await requests({ fleet })).filter(
    ([what]) => what.includes("fleet.cattle.io") && !what.startsWith("WATCH"),
  );
  return {
    perMinute: (made.reduce((sum, [, count]) => sum + count, 0) * 60_000) / idleMs,
    detail: made.map(([what, count]) => `${what}: ${count}`).join(", "),
  };
}
