/** Where everything of a local fleet is inside its folder (`.flotilla`). */
import { join } from "node:path";

export interface FleetPaths {
  readonly root: string;
  /** What is running and where: see fleet-state.ts. */
  readonly state: string;
  /** One file with a context for each cluster. */
  readonly kubeconfig: string;
  readonly journal: string;
  /** Held while a fleet is brought up or down. */
  readonly lock: string;
  readonly logs: string;
  readonly clusters: string;
  readonly registry: string;
  readonly chartRepository: string;
  /** For what the hub and the agents keep on disk. */
  readonly work: string;
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
    logs: join(root, "logs"),
    clusters,
    registry: join(root, "registry"),
    chartRepository: join(root, "chart-repository"),
    work: join(root, "work"),
    cluster: (name) => join(clusters, name),
  };
}
