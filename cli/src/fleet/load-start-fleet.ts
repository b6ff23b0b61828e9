/** Loads what starts a fleet: a third of all modules, which most commands do not need. */
import type { startFleet } from "./start-fleet.ts";

export async function loadStartFleet(): Promise<typeof startFleet> {
  return (await import("./start-fleet.ts")).startFleet;
}
