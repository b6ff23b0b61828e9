/** Puts a local fleet together: clusters, registries, the hub, agents that enrol, and a HelmOp to see it work. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries/ensure-binaries.ts";
import type { ReportProgress } from "@flotilla/local/binaries/progress.ts";
import type { ToolName } from "@flotilla/local/binaries/tools.ts";
import { controlPlaneTools } from "@flotilla/local/control-plane/control-plane.ts";
import { formatKubeconfig, writeKubeconfig } from "@flotilla/local/control-plane/kubeconfig.ts";
import { openJournal } from "@flotilla/local/process/journal.ts";
import type { ProcessWatcher, Watchers } from "@flotilla/local/process/process-record.ts";
import type { RunningProcess } from "@flotilla/local/process/start-process.ts";
import type { ClusterProvider, LocalCluster } from "@flotilla/local/provider/cluster-provider.ts";
import { embeddedProvider } from "@flotilla/local/provider/embedded.ts";
import { kindProvider } from "@flotilla/local/provider/kind.ts";
import { publishChart } from "@flotilla/local/registries/publish-chart.ts";
import { sampleChartDir } from "@flotilla/local/registries/sample-charts.ts";
import { startChartRepository } from "@flotilla/local/registries/start-chart-repository.ts";
import { startRegistry } from "@flotilla/local/registries/start-registry.ts";
import type { FleetPaths } from "@flotilla/local/state/fleet-paths.ts";
import { type FleetState, writeFleetState } from "@flotilla/local/state/fleet-state.ts";
import { localNamespace, workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { helmOps } from "@flotilla/shared/api/resources.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/client/load-kubeconfig.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isAlreadyExists } from "@flotilla/shared/kube/client/status-error.ts";
import { cliErrors } from "../errors.ts";
import { startAgent } from "./agent.ts";
import { agentConnected, prepareAgent, registrationData } from "./enroll-clusters.ts";
import { chooseHubPorts, type HubPorts, hubAddress, startHub } from "./hub.ts";
import { installCrds } from "./install-crds.ts";
import { sampleChart, sampleHelmOp, sampleVersion } from "./sample.ts";
import { startTogether } from "./start-together.ts";
import { waitForObject } from "./wait-for.ts";

export interface FleetSpec {
  readonly paths: FleetPaths;
  readonly provider: "embedded" | "kind";
  /** Besides the hub. */
  readonly clusters: number;
  /** Whether the hub's own cluster is a member too, as `local` in `fleet-local`. */
  readonly local: boolean;
  readonly sample: boolean;
  /** Of the hub and the agents. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends everything when this program is killed. */
  readonly reaper?: ProcessWatcher;
  readonly progress: ReportProgress;
  /** Told in words what is being done. */
  readonly step: (what: string) => void;
  readonly signal: AbortSignal;
}

export interface StartedFleet {
  readonly state: FleetState;
  readonly processes: readonly RunningProcess[];
}

const connectTimeoutMs = 60_000;
const sampleTimeoutMs = 120_000;

/** The address under which charts are in the registry. */
const registryPath = "charts";

/** Rejects with what kept the fleet from coming up; what was started by then is in the journal, for the caller to end. */
export async function startFleet(spec: FleetSpec): Promise<StartedFleet> {
  const { paths, signal } = spec;
  const tools: readonly ToolName[] =
    spec.provider === "kind"
      ? ["kubectl", "helm", "registry"]
      : [...controlPlaneTools, "kubectl", "helm", "registry"];
  spec.step("programs");
  const binaries = await ensureBinaries(tools, { progress: spec.progress, signal });
  await mkdir(paths.work, { recursive: true, mode: 0o700 });
  const watchers: Watchers = {
    journal: openJournal(paths.journal),
    ...(spec.reaper !== undefined && { reaper: spec.reaper }),
  };
  const provider = await chooseProvider(spec, binaries, watchers);

  spec.step(`hub cluster and ${spec.clusters} more, registries`);
  const names = Array.from({ length: spec.clusters }, (_, index) => `cluster-${index + 1}`);
  const startCluster = (name: string, workloads: boolean): Promise<LocalCluster> =>
    provider.start({ name, dir: paths.cluster(name), workloads, signal });
  const [hub, members, registry, repository] = await startTogether([
    startCluster("hub", spec.local),
    startTogether(names.map((name) => startCluster(name, true))),
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
  spec.step("hub");
  const hubRest = await connect(hub);
  try {
    const [{ ports, programs }] = await startTogether([
      startPrograms(spec, { hub, hubRest, members, helm: binaries.helm, watchers }),
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
      startedAt: new Date().toISOString(),
      kubeconfig: paths.kubeconfig,
      clusters: [hub, ...members].map(({ name, server, kubeconfig }) => ({
        name,
        server,
        kubeconfig,
      })),
      addresses: {
        hub: hubAddress(ports),
        hubHealth: `http://127.0.0.1:${ports.http}`,
        chartRepository: repository.url,
        registry: `${registry.oci}/${registryPath}`,
      },
      processes: processes.map(({ record }) => record),
    };
    await writeFleetState(paths, state);
    if (spec.sample) {
      spec.step("sample HelmOp");
      await installSample(hubRest, repository.url, signal);
    }
    return { state, processes };
  } finally {
    await hubRest.close();
  }
}

interface ProgramPlaces {
  readonly hub: LocalCluster;
  readonly hubRest: KubeRest;
  readonly members: readonly LocalCluster[];
  /** The path of the `helm` program. */
  readonly helm: string;
  readonly watchers: Watchers;
}

/** The hub, then all agents at once; resolves when each of them is connected. */
async function startPrograms(
  spec: FleetSpec,
  { hub, hubRest, members, helm, watchers }: ProgramPlaces,
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

  spec.step("agents");
  const registration = await registrationData(hubRest, workspaceNamespace, "flotilla");
  const joining = members.map((cluster) => ({
    cluster,
    name: cluster.name,
    workspace: workspaceNamespace,
    registration,
    labels: { name: cluster.name },
  }));
  if (spec.local) {
    const own = await registrationData(hubRest, localNamespace, "flotilla");
    joining.push({
      cluster: hub,
      name: "local",
      workspace: localNamespace,
      registration: own,
      labels: { name: "local" },
    });
  }
  const agents = await startTogether(
    joining.map(async ({ cluster, name, workspace, registration: own, labels }) => {
      const rest = await connect(cluster);
      try {
        await prepareAgent(rest, own, { clusterName: name, labels });
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
      await agentConnected(hubRest, workspace, name, connectTimeoutMs, signal);
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
    `clusters cannot be made with kind here: ${available.why}; without --provider they need no Docker`,
  );
}

async function connect(cluster: LocalCluster): Promise<KubeRest> {
  return connectKube(await loadKubeconfig({ path: cluster.kubeconfig }));
}

/** Resolves when the sample is Ready everywhere. */
async function installSample(hub: KubeRest, charts: string, signal: AbortSignal): Promise<void> {
  const sample = sampleHelmOp(charts);
  try {
    await hub.create(helmOps, sample);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
  await waitForObject(
    helmOps,
    sample.metadata,
    (helmOp) => findCondition(helmOp?.status?.conditions, "Ready")?.status === "True",
    {
      rest: hub,
      timeoutMs: sampleTimeoutMs,
      signal,
      onTimeout: (last) => {
        const conditions = (last?.status?.conditions ?? []).filter(
          ({ status }) => status !== "True",
        );
        return `the HelmOp sample is not Ready after ${sampleTimeoutMs / 1000} s: ${conditions.map(({ type, status, message }) => `${type}=${status} ${message ?? ""}`).join("; ")}`;
      },
    },
  );
}
