/** Clusters as processes on this machine: real control planes without containers. */
import {
  type ControlPlaneBinaries,
  startControlPlane,
  stopControlPlaneIn,
} from "../control-plane/index.ts";
import { type Watchers, watchersOf } from "../process/index.ts";
import type { ClusterProvider } from "./cluster-provider.ts";

export interface EmbeddedOptions extends Watchers {
  readonly binaries: ControlPlaneBinaries;
  /** Folder of the logs of a cluster; `logs` in its folder when absent. */
  readonly logDirOf?: (cluster: string) => string;
}

export function embeddedProvider(options: EmbeddedOptions): ClusterProvider {
  return {
    name: "embedded",
    available: () => Promise.resolve({ ok: true }),
    async start(spec) {
      const plane = await startControlPlane({
        name: spec.name,
        dir: spec.dir,
        binaries: options.binaries,
        workloads: spec.workloads,
        ...watchersOf(options),
        ...(options.logDirOf === undefined ? {} : { logDir: options.logDirOf(spec.name) }),
        ...(spec.signal === undefined ? {} : { signal: spec.signal }),
      });
      const { name, server, kubeconfig, pki, processes } = plane;
      return {
        name,
        server,
        kubeconfig,
        processes,
        entry: { name, server, ca: pki.ca, client: pki.clients.admin },
      };
    },
    stop: ({ dir }) => stopControlPlaneIn(dir),
  };
}
