/** What each process of a fleet uses of the machine. */
import { memoryMb } from "../measure/bench-fleet.ts";
import { processorMs } from "../measure/processor.ts";
import type { StagedFleet } from "./staged-fleet.ts";

/** The names of the processes, as people call them. */
export const processNames = ["hub", "API server", "etcd", "agents"] as const;

export type ByProcess = Readonly<Record<(typeof processNames)[number], number>>;

/** Since each of them began, ms. */
export function processorOf(fleet: StagedFleet): Promise<ByProcess> {
  return ofEach(fleet, processorMs);
}

export function memoryOf(fleet: StagedFleet): Promise<ByProcess> {
  return ofEach(fleet, memoryMb);
}

export function difference(before: ByProcess, after: ByProcess): ByProcess {
  return byProcess((name) => after[name] - before[name]);
}

/** `digits`: after the point. */
export function processText(values: ByProcess, unit: string, digits: number): string {
  return processNames.map((name) => `${name} ${values[name].toFixed(digits)} ${unit}`).join(", ");
}

export function byProcess(read: (name: (typeof processNames)[number]) => number): ByProcess {
  return {
    hub: read("hub"),
    "API server": read("API server"),
    etcd: read("etcd"),
    agents: read("agents"),
  };
}

/** A program of the hub's control plane. */
export function planePid(
  { bench }: Pick<StagedFleet, "bench">,
  tool: "kube-apiserver" | "etcd",
): number {
  const part = bench.fleet.ownHubPlane().part(tool);
  if (part === undefined) throw new Error(`the hub's control plane has no ${tool}`);
  return part.identity.pid;
}

async function ofEach(
  fleet: StagedFleet,
  read: (pid: number) => Promise<number>,
): Promise<ByProcess> {
  return {
    hub: await read(fleet.bench.fleet.hubProcess().identity.pid),
    "API server": await read(planePid(fleet, "kube-apiserver")),
    etcd: await read(planePid(fleet, "etcd")),
    agents: await read(fleet.simulation.pid),
  };
}
