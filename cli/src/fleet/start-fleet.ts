/** Starts a local fleet: clusters, registries, the hub, agents and a sample HelmOp. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ensureBinaries, type ReportProgress, type ToolName } from "@flotilla/local/binaries";
import {
  controlPlaneTools,
  formatKubeconfig,
  writeKubeconfig,
} from "@flotilla/local/control-plane";
import {
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
import { localNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import { formatTimeMs } from "@flotilla/shared/time";
import { cliErrors } from "../errors.ts";
import { startAgent } from "./agent.ts";
import { chooseHubPorts, type HubPorts, hubAddress, startHub } from "./hub.ts";
import { installCrds } from "./install-crds.ts";
import { createBootstrapSecret, ensureRegistrationToken, waitForAgent } from "./registration.ts";
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
}

const connectTimeoutMs = 60_000;

/** Path of the charts in the registry. */
const registryPath = "charts";

/** Resolves when the fleet is ready. On failure the caller ends the processes, which are all in the journal by then. */
export async function startFleet(spec: FleetSpec): Promise<StartedFleet> {
  const { paths, signal } = spec;
  const tools: readonly ToolName[] =
    spec.provider === "kind"
      ? ["kubectl", "helm", "registry"]
      : [...controlPlaneTools, "kubectl", "helm", "registry"];
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
  const startCluster = (name: string, workloads: boolean): Promise<LocalCluster> =>
    provider.start({ name, dir: paths.cluster(name), workloads, signal });
  const [hub, members, registry, repository] = await waitForAll([
    startCluster("hub", spec.local === true),
    waitForAll(names.map((name) => startCluster(name, true))),
    startRegistry({
      dir: paths.registry,
      binary: binaries.registry,
      logDir: paths.logs,
      ...watchers,
    }),
    startChartRepository({ dir: paths.chartRepository, logDir: paths.logs, ...watchers }),
  ]);
  await writeKubeconfig(
    paths.kubeconfig,
    formatKubeconfig([hub, ...members].map(({ entry }) => entry)),
  );
  spec.step("starting the hub");
  const hubRest = await connect(hub);
  try {
    const [{ ports, programs }] = await waitForAll([
      startHubAndAgents(spec, { hub, hubRest, members, helm: binaries.helm, watchers }),
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
      ...programs,
    ];
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
        hub: hubAddress(ports),
        hubHealth: `http://127.0.0.1:${ports.internal}`,
        chartRepository: repository.url,
        registry: `${registry.oci}/${registryPath}`,
      },
      processes: processes.map(({ record }) => record),
    };
    await writeFleetState(paths, state);
    if (spec.sample) {
      spec.step("waiting for the sample HelmOp");
      await installSample(hubRest, repository.url, signal);
    }
    return { state, processes };
  } finally {
    await hubRest.close();
  }
}

interface ProgramContext {
  readonly hub: LocalCluster;
  readonly hubRest: KubeRest;
  readonly members: readonly LocalCluster[];
  /** Path of the helm program. */
  readonly helm: string;
  readonly watchers: Watchers;
}

/** Starts the hub, then all agents; resolves when all are connected. */
async function startHubAndAgents(
  spec: FleetSpec,
  { hub, hubRest, members, helm, watchers }: ProgramContext,
): Promise<{ readonly ports: HubPorts; readonly programs: readonly RunningProcess[] }> {
  const { paths, environment, signal } = spec;
  await installCrds(hubRest);
  const ports = await chooseHubPorts();
  const hubProgram = await startHub({
    kubeconfig: hub.kubeconfig,
    ports,
    logFile: join(paths.logs, "hub.log"),
    environment,
    ...watchers,
  });

  spec.step("starting agents");
  const registration = await ensureRegistrationToken(hubRest, workspaceNamespace, "flotilla");
  const registrations = members.map((cluster) => ({
    cluster,
    name: cluster.name,
    workspace: workspaceNamespace,
    registration,
    labels: { name: cluster.name },
  }));
  if (spec.local) {
    const own = await ensureRegistrationToken(hubRest, localNamespace, "flotilla");
    registrations.push({
      cluster: hub,
      name: "local",
      workspace: localNamespace,
      registration: own,
      labels: { name: "local" },
    });
  }
  const agents = await waitForAll(
    registrations.map(async ({ cluster, name, workspace, registration, labels }) => {
      const rest = await connect(cluster);
      try {
        await createBootstrapSecret(rest, registration, { clusterName: name, labels });
      } finally {
        await rest.close();
      }
      const agent = await startAgent({
        cluster: name,
        kubeconfig: cluster.kubeconfig,
        dataDir: join(paths.work, `agent-${name}`),
        helm,
        logFile: join(paths.logs, `agent-${name}.log`),
        environment,
        ...watchers,
      });
      await waitForAgent(hubRest, workspace, name, connectTimeoutMs, signal);
      return agent;
    }),
  );
  return { ports, programs: [hubProgram, ...agents] };
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

async function connect(cluster: LocalCluster): Promise<KubeRest> {
  return connectKube(await loadKubeconfig({ path: cluster.kubeconfig }));
}
