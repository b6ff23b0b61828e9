/** The heap of the hub, by its own metrics. */
import type { BenchFleet } from "./bench-fleet.ts";

/** A sentence with the size and the used part of it. */
export async function heapText({ fleet }: Pick<BenchFleet, "fleet">): Promise<string> {
  const metrics = await (await fetch(`http://127.0.0.1:${fleet.hubPorts.internal}/metrics`)).text();
  const mb = (name: string): string => {
    const bytes = new RegExp(`^nodejs_${name}_bytes (\\S+)$`, "m").exec(metrics)?.[1];
    return (Number(bytes) / 1024 ** 2).toFixed(0);
  };
  return `its heap has ${mb("heap_size_total")} MB, of which ${mb("heap_size_used")} MB are in use; ${mb("external_memory")} MB are outside`;
}
