/** A local control plane as its users see it: what it is made from, and what they get. */
import type { ToolName } from "../binaries/tools.ts";
import type { Watchers } from "../process/process-record.ts";
import type { RunningProcess } from "../process/start-process.ts";
import type { ClusterPki } from "./pki.ts";

/** What `ensureBinaries` is to be asked for before a control plane is started. */
export const controlPlaneTools = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
] as const satisfies readonly ToolName[];

export type ControlPlaneTool = (typeof controlPlaneTools)[number];

/** The programs that a control plane is made of, as paths. */
export type ControlPlaneBinaries = Readonly<Record<ControlPlaneTool, string>>;

export interface ControlPlaneSpec extends Watchers {
  /** The name of the cluster: of its context in the kubeconfig, and in messages. */
  readonly name: string;
  /** The folder of this cluster alone; made when it is not there. */
  readonly dir: string;
  readonly binaries: ControlPlaneBinaries;
  /** With a scheduler and a fake node, so that Deployments become Ready; without, the cluster is smaller. */
  readonly workloads: boolean;
  /** Where the logs go; `logs` in `dir` when absent. */
  readonly logDir?: string;
  /** Another folder with etcd's data, such as one that `copyEtcdData` made; `etcd` in `dir` when absent. */
  readonly etcdDir?: string;
  readonly startTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ControlPlane {
  readonly name: string;
  readonly dir: string;
  /** `https://127.0.0.1:PORT`, the same after a restart. */
  readonly server: string;
  /** The path of the admin's kubeconfig, whose one context has the cluster's name. */
  readonly kubeconfig: string;
  readonly pki: ClusterPki;
  /** The folder with etcd's data. */
  readonly etcdDir: string;
  readonly processes: readonly RunningProcess[];
  readonly pids: readonly number[];
  /** The process of one part; the latest, where it was restarted. */
  part(tool: ControlPlaneTool): RunningProcess | undefined;
  /** Starts one part that has ended anew; that it answers is for the caller to find out. */
  restart(tool: ControlPlaneTool): Promise<void>;
  /** Ends all processes, the API server before etcd; the folder stays. */
  stop(): Promise<void>;
}
