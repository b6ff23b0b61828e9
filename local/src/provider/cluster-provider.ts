/** Where the clusters of a local fleet come from. */
import type { KubeconfigEntry } from "../control-plane/kubeconfig.ts";
import type { RunningProcess } from "../process/start-process.ts";

export interface ClusterSpec {
  /** The name of the cluster and of its context. */
  readonly name: string;
  /** The folder of this cluster alone. */
  readonly dir: string;
  /** Whether Deployments are to become Ready in it. */
  readonly workloads: boolean;
  readonly signal?: AbortSignal;
}

export interface LocalCluster {
  readonly name: string;
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  /** The path of a kubeconfig whose one context has the cluster's name. */
  readonly kubeconfig: string;
  /** The same, to merge into a file with others. */
  readonly entry: KubeconfigEntry;
  /** The processes that are ours; none where somebody else runs the cluster. */
  readonly processes: readonly RunningProcess[];
}

export type Availability = { readonly ok: true } | { readonly ok: false; readonly why: string };

export interface ClusterProvider {
  readonly name: "embedded" | "kind";
  /** Whether clusters can be started here; asked before anything is. */
  available(): Promise<Availability>;
  /** Resolves when the cluster answers and its controllers work. */
  start(spec: ClusterSpec): Promise<LocalCluster>;
  /** Ends a cluster by its name and folder, also one that another program started. Harmless when there is none. */
  stop(cluster: Pick<ClusterSpec, "name" | "dir">): Promise<void>;
}
