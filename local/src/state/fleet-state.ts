/** The state file of a local fleet: what runs where. Written when the fleet is up; what it says is checked when it is read. */
import { mkdir } from "node:fs/promises";
import { z } from "zod";
import { readJson, writeJson } from "../files/atomic-file.ts";
import { isAlive } from "../process/identity.ts";
import { type ProcessRecord, processRecord } from "../process/process-record.ts";
import type { FleetPaths } from "./fleet-paths.ts";

const clusterState = z.object({
  /** Also the name of its context. */
  name: z.string(),
  server: z.string(),
  kubeconfig: z.string(),
});

const fleetState = z.object({
  version: z.literal(1),
  provider: z.enum(["embedded", "kind"]),
  startedAt: z.string(),
  /** The absolute path of the file with all contexts. */
  kubeconfig: z.string(),
  clusters: z.array(clusterState),
  /** Where people and programs find things: `hub`, `chartRepository`, `registry` … */
  addresses: z.record(z.string(), z.string()),
  processes: z.array(processRecord),
});

export type FleetState = Readonly<z.infer<typeof fleetState>>;

export async function writeFleetState(paths: FleetPaths, state: FleetState): Promise<void> {
  await mkdir(paths.root, { recursive: true });
  await writeJson(paths.state, state);
}

/** What the state file says, compared with the processes of this machine. */
export type FleetObservation =
  | { readonly kind: "absent" }
  /** All processes are running. */
  | { readonly kind: "running"; readonly state: FleetState }
  /** Some processes are gone. */
  | { readonly kind: "broken"; readonly state: FleetState; readonly gone: readonly ProcessRecord[] }
  /** None is: the machine was restarted, or everything was killed. */
  | { readonly kind: "stale"; readonly state: FleetState };

export async function observeFleet(paths: FleetPaths): Promise<FleetObservation> {
  const state = await readJson(paths.state, fleetState);
  if (state === undefined) return { kind: "absent" };
  const alive = await Promise.all(state.processes.map(isAlive));
  const gone = state.processes.filter((_, index) => alive[index] !== true);
  if (gone.length === 0) return { kind: "running", state };
  return gone.length === state.processes.length
    ? { kind: "stale", state }
    : { kind: "broken", state, gone };
}
