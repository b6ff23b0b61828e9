/** The specification and the handle of a local control plane. */
import type { ToolName } from "../binaries/index.ts";
import type { RunningProcess, Watchers } from "../process/index.ts";
import type { ClusterPki } from "./pki.ts";

/** The programs of a control plane, for `ensureBinaries`. */
export const controlPlaneTools = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
] as const satisfies readonly ToolName[];

export type ControlPlaneTool = (typeof controlPlaneTools)[number];

/** Paths of the programs. */
export type ControlPlaneBinaries = Readonly<Record<ControlPlaneTool, string>>;

export interface ControlPlaneSpec extends Watchers {
  /** Name of the cluster and of its context in the kubeconfig. */
  readonly name: string;
  /** Folder of this cluster only; created when missing. */
  readonly dir: string;
  readonly binaries: ControlPlaneBinaries;
  /** Run a scheduler and a fake node, so that Deployments become Ready. */
  readonly workloads: boolean;
  /** Folder of the logs; `logs` in `dir` when absent. */
  readonly logDir?: string;
  /** Folder of the etcd data, such as a copy by `copyEtcdData`; `etcd` in `dir` when absent. */
  readonly etcdDir?: string;
  /** Lives for a test: its garbage is collected later, for 30 % less processor time at its start and 120 MB more memory. */
  readonly shortLived?: boolean;
  /**
   * How many processors each part uses; all when absent. With one a start takes a fifth less processor time: the runtime of Go spends
   * some on looking for work to share.
   */
  readonly processors?: number;
  readonly startTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ControlPlane {
  readonly name: string;
  readonly dir: string;
  /** `https://127.0.0.1:PORT`, the same after a restart. */
  readonly server: string;
  /** Path of the admin kubeconfig; its only context has the name of the cluster. */
  readonly kubeconfig: string;
  readonly pki: ClusterPki;
  /** Folder of the etcd data. */
  readonly etcdDir: string;
  readonly processes: readonly RunningProcess[];
  readonly pids: readonly number[];
  /** The current process of a component. */
  part(tool: ControlPlaneTool): RunningProcess | undefined;
  /** Starts a component again that has ended; the caller checks that it is ready. */
  restart(tool: ControlPlaneTool): Promise<void>;
  /** Ends all processes, the API server before etcd. Keeps the folder. */
  stop(): Promise<void>;
}
