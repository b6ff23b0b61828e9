/** Starts a local fleet: clusters, registries, the hub, agents and a sample HelmOp. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ensureBinaries, type ReportProgress, type ToolName } from "@flotilla/local/binaries";
import { readLocalConfig } from "@flotilla/local/config";
import {
  controlPlaneTools,
  formatKubeconfig,
  writeKubeconfig,
} from "@flotilla/local/control-plane";
import { preparePods, startRunner } from "@flotilla/local/pods";
import {
  freePort,
  openJournal,
  type ProcessWatcher,
  type RunningProcess,
  type Watchers,
} from "@flotilla/local/process";
import {
  type ClusterProvider,
  embeddedProvider,
  kindProvider,
  type LocalCluster,
} from "@flotilla/local/provider";
import {
  publishChart,
  sampleChartDir,
  startChartRepository,
  startRegistry,
} from "@flotilla/local/registries";
import { type FleetPaths, type FleetState, writeFleetState } from "@flotilla/local/state";
import { AppError } from "@flotilla/shared/errors";
import { formatTimeMs } from "@flotilla/shared/time";
import { cliErrors } from "../errors.ts";
import { writeValues } from "./charts.ts";
import { createLoginLink } from "./dashboard-login.ts";
import { connect, installHubAndAgents } from "./install-fleet.ts";
import { installSample, sampleChart, sampleVersion } from "./sample.ts";
import { waitForAll } from "./wait.ts";

export interface FleetSpec {
  readonly paths: FleetPaths;
  readonly provider: "embedded" | "kind";
  /** How many besides the hub. */
  readonly clusters: number;
  /** Register the hub's own cluster as `fleet-local/local`. */
  readonly local?: boolean;
  readonly sample: boolean;
  /** Install nothing of Flotilla. */
  readonly bare?: boolean;
  /** Environment variables of the hub and the agents. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends all processes when this program is killed. */
  readonly reaper?: ProcessWatcher;
  readonly progress: ReportProgress;
  /** Called with a description at the start of each step. */
  readonly step: (what: string) => void;
  readonly signal: AbortSignal;
}

export interface StartedFleet {
  readonly state: FleetState;
  readonly processes: readonly RunningProcess[];
  /** The login link of the dashboard; absent without a hub. */
  readonly loginLink?: string;
}

/** Path of the charts in the registry. */
const registryPath = "charts";

/** Resolves when the fleet is ready. On failure the caller ends the processes, which are all in the journal by then. */
export async function startFleet(spec: FleetSpec): Promise<StartedFleet> {
  const { paths, signal } = spec;
  const tools: readonly ToolName[] =
    spec.provider === "kind"
      ? ["kubectl", "helm", "kustomize", "confine", "registry"]
      : [...controlPlaneTools, "kubectl", "helm", "kustomize", "confine", "registry"];
  spec.step("preparing programs");
  const binaries = await ensureBinaries(tools, { progress: spec.progress, signal });
  await mkdir(paths.work, { recursive: true, mode: 0o700 });
  const watchers: Watchers = {
    journal: openJournal(paths.journal),
    ...(spec.reaper !== undefined && { reaper: spec.reaper }),
  };
  const provider = await chooseProvider(spec, binaries, watchers);

  spec.step(`starting the hub cluster, ${spec.clusters} more and registries`);
  const names = Array.from({ length: spec.clusters }, (_, index) => `cluster-${index + 1}`);
  const startCluster = (name: string): Promise<LocalCluster> =>
    provider.start({ name, dir: paths.cluster(name), workloads: true, signal });
  const [hub, members, registry, repository, pods] = await waitForAll([
    startCluster("hub"),
    waitForAll(names.map(startCluster)),
    startRegistry({
      dir: paths.registry,
      binary: binaries.registry,
      logDir: paths.logs,
      ...watchers,
    }),
    startChartRepository({ dir: paths.chartRepository, logDir: paths.logs, ...watchers }),
    preparePods(readLocalConfig(), binaries),
  ]);
  await writeKubeconfig(
    paths.kubeconfig,
    formatKubeconfig([hub, ...members].map(({ entry }) => entry)),
  );
  if (pods.isolation.kind === "plain process")
    spec.step(`pods run as plain processes: ${pods.isolation.reason}`);
  const runner = await startRunner(
    {
      clusters: [hub, ...members].map(({ name, kubeconfig }) => ({ name, kubeconfig })),
      ...pods,
      dir: paths.work,
      logDir: paths.logs,
      journal: paths.journal,
    },
    spec.environment,
    watchers,
  );
  const [agentsPort, dashboardPort] = [await freePort(), await freePort()];
  const ports = { agentsPort, dashboardPort };
  await writeValues(paths.values, ports);
  const hubRest = await connect(hub);
  try {
    if (!spec.bare) spec.step("installing the charts of Flotilla");
    await waitForAll([
      ...(spec.bare
        ? []
        : [installHubAndAgents(spec, { hub, hubRest, members, ...ports, helm: binaries.helm })]),
      publishChart(sampleChartDir(sampleChart), {
        helm: binaries.helm,
        version: sampleVersion,
        to: {
          chartsDir: repository.chartsDir,
          registry: { repository: `${registry.oci}/${registryPath}`, plainHttp: true },
        },
        signal,
      }),
    ]);

    const processes = [
      ...[hub, ...members].flatMap((cluster) => cluster.processes),
      registry.process,
      repository.process,
      runner,
    ];
    const dashboard = `http://127.0.0.1:${dashboardPort}`;
    const state: FleetState = {
      version: 1,
      provider: spec.provider,
      startedAt: formatTimeMs(Date.now()),
      kubeconfig: paths.kubeconfig,
      clusters: [hub, ...members].map(({ name, server, kubeconfig }) => ({
        name,
        server,
        kubeconfig,
      })),
      addresses: {
        hub: `127.0.0.1:${agentsPort}`,
        ...(!spec.bare && { dashboard }),
        chartRepository: repository.url,
        registry: `${registry.oci}/${registryPath}`,
      },
      processes: processes.map(({ record }) => record),
    };
    await writeFleetState(paths, state);
    if (spec.sample && !spec.bare) {
      spec.step("waiting for the sample HelmOp");
      await installSample(hubRest, repository.url, signal);
    }
    return {
      state,
      processes,
      ...(!spec.bare && { loginLink: await createLoginLink(hubRest, dashboard) }),
    };
  } finally {
    await hubRest.close();
  }
}

async function chooseProvider(
  spec: FleetSpec,
  binaries: Awaited<ReturnType<typeof ensureBinaries>>,
  watchers: Watchers,
): Promise<ClusterProvider> {
  if (spec.provider === "embedded")
    return embeddedProvider({
      binaries,
      ...watchers,
      logDirOf: (cluster) => join(spec.paths.logs, cluster),
    });
  const kind = kindProvider({ environment: spec.environment });
  const available = await kind.available();
  if (available.ok) return kind;
  throw new AppError(
    cliErrors.FLEET_NOT_READY,
    `create clusters with kind: ${available.reason}; use --provider embedded, which needs no Docker`,
  );
}
