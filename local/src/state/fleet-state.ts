/** The state file of a local fleet: addresses and processes. Written when the fleet is ready; compared with the running processes when read. */
import { mkdir } from "node:fs/promises";
import * as z from "zod";
import { readJson, writeJson } from "../files/index.ts";
import { isAlive, type ProcessRecord, processRecord } from "../process/index.ts";
import type { FleetPaths } from "./fleet-paths.ts";

const clusterState = z.object({
  /** Name of the cluster and of its context. */
  name: z.string(),
  server: z.string(),
  kubeconfig: z.string(),
});

const fleetState = z.object({
  version: z.literal(1),
  provider: z.enum(["embedded", "kind"]),
  startedAt: z.string(),
  /** Absolute path of the kubeconfig with all contexts. */
  kubeconfig: z.string(),
  clusters: z.array(clusterState),
  /** Addresses by name: `hub`, `dashboard`, `chartRepository`, `registry`. */
  addresses: z.record(z.string(), z.string()),
  processes: z.array(processRecord),
});

export type FleetState = Readonly<z.infer<typeof fleetState>>;

/** Replaces the state file. */
export async function writeFleetState(paths: FleetPaths, state: FleetState): Promise<void> {
  await mkdir(paths.root, { recursive: true });
  await writeJson(paths.state, state);
}

/** The state file compared with the running processes. */
export type FleetObservation =
  | { readonly kind: "absent" }
  /** All processes are running. */
  | { readonly kind: "running"; readonly state: FleetState }
  /** Some processes have ended. */
  | {
      readonly kind: "broken";
      readonly state: FleetState;
      readonly ended: readonly ProcessRecord[];
    }
  /** All processes have ended: the machine was restarted, or they were killed. */
  | { readonly kind: "stale"; readonly state: FleetState };

/** Reads the state file and checks its processes. Throws STATE_UNREADABLE. */
export async function observeFleet(paths: FleetPaths): Promise<FleetObservation> {
  const state = await readJson(paths.state, fleetState);
  if (state === undefined) return { kind: "absent" };
  const alive = await Promise.all(state.processes.map(isAlive));
  const ended = state.processes.filter((_, index) => alive[index] !== true);
  if (ended.length === 0) return { kind: "running", state };
  return ended.length === state.processes.length
    ? { kind: "stale", state }
    : { kind: "broken", state, ended };
}
