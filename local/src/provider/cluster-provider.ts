/** The interface of a provider of local clusters. */
import type { KubeconfigEntry } from "../control-plane/index.ts";
import type { RunningProcess } from "../process/index.ts";

export interface ClusterSpec {
  /** Name of the cluster and of its context. */
  readonly name: string;
  /** Folder of this cluster only. */
  readonly dir: string;
  /** Whether Deployments must become Ready. */
  readonly workloads: boolean;
  readonly signal?: AbortSignal;
}

export interface LocalCluster {
  readonly name: string;
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  /** Path of a kubeconfig whose only context has the name of the cluster. */
  readonly kubeconfig: string;
  /** The entry of that kubeconfig. */
  readonly entry: KubeconfigEntry;
  /** The processes of the cluster; none when it runs in containers. */
  readonly processes: readonly RunningProcess[];
}

export type Availability = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface ClusterProvider {
  readonly name: "embedded" | "kind";
  /** Whether the provider works on this machine; checked before a start. */
  available(): Promise<Availability>;
  /** Resolves when the API server and the controllers are ready. */
  start(spec: ClusterSpec): Promise<LocalCluster>;
  /** Ends a cluster by name and folder, also one that another program started. Does nothing when there is none. */
  stop(cluster: Pick<ClusterSpec, "name" | "dir">): Promise<void>;
}
