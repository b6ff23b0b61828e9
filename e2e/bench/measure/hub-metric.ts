/** A metric of the hub, as it is now. */
import type { BenchFleet } from "./bench-fleet.ts";

/** The value of a metric without labels. Reading the lag of the event loop empties its histogram. */
export async function hubMetric({ fleet }: BenchFleet, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${fleet.hubPorts.internal}/metrics`);
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await answer.text())?.[1]);
}
