/** The paths in the folder of a local fleet (`.flotilla`). */
import { join } from "node:path";

export interface FleetPaths {
  readonly root: string;
  /** The state file: see fleet-state.ts. */
  readonly state: string;
  /** A kubeconfig with a context for each cluster. */
  readonly kubeconfig: string;
  readonly journal: string;
  /** The lock that is held while a fleet starts. */
  readonly lock: string;
  /** Is there while `flotilla down` ends the processes. */
  readonly stopping: string;
  readonly logs: string;
  readonly clusters: string;
  readonly registry: string;
  readonly chartRepository: string;
  /** Volumes of pods. */
  readonly work: string;
  /** Values of charts for this fleet. */
  readonly values: string;
  cluster(name: string): string;
}

export function fleetPaths(root: string): FleetPaths {
  const clusters = join(root, "clusters");
  return {
    root,
    state: join(root, "state.json"),
    kubeconfig: join(root, "kubeconfig"),
    journal: join(root, "processes.jsonl"),
    lock: join(root, "lock"),
    stopping: join(root, "stopping"),
    logs: join(root, "logs"),
    clusters,
    registry: join(root, "registry"),
    chartRepository: join(root, "chart-repository"),
    work: join(root, "work"),
    values: join(root, "values"),
    cluster: (name) => join(clusters, name),
  };
}
