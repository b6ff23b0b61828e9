/** Installs the hub and the agents of a local fleet with their charts, and registers the clusters. */
import { join } from "node:path";
import type { LocalCluster } from "@flotilla/local/provider";
import type { FleetPaths } from "@flotilla/local/state";
import { hubNamespace, localNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import { deployments } from "@flotilla/shared/kube/objects";
import { type ChartName, createProxySecret, installChart, proxiesOf, valuesOf } from "./charts.ts";
import { createBootstrapSecret, ensureRegistrationToken, waitForAgent } from "./registration.ts";
import { waitForAll, waitForObject } from "./wait.ts";

const readyTimeoutMs = 180_000;

export interface InstallSpec {
  readonly paths: FleetPaths;
  /** Register the hub's own cluster as `fleet-local/local`. */
  readonly local?: boolean;
  /** The environment of the user; proxies are passed on. */
  readonly environment: Readonly<Record<string, string>>;
  readonly step: (what: string) => void;
  readonly signal: AbortSignal;
}

export interface InstallContext {
  readonly hub: LocalCluster;
  readonly hubRest: KubeRest;
  readonly members: readonly LocalCluster[];
  readonly agentsPort: number;
  readonly dashboardPort: number;
  /** Path of the helm program. */
  readonly helm: string;
}

/** Installs the hub and all agents with their charts; resolves when all agents are connected. */
export async function installHubAndAgents(
  spec: InstallSpec,
  context: InstallContext,
): Promise<void> {
  const { hub, hubRest, members, agentsPort, dashboardPort, helm } = context;
  const { paths, environment, signal } = spec;
  const proxies = proxiesOf(environment);
  const values = {
    agentsPort,
    dashboardPort,
    hasProxies: proxies !== undefined,
    ...(spec.local === true && { local: true }),
  };
  const install = async (chart: ChartName, cluster: LocalCluster): Promise<void> => {
    if (proxies !== undefined)
      await withClient(cluster, (rest) => createProxySecret(rest, chart, proxies));
    await installChart({
      chart,
      values: valuesOf(chart, values),
      kubeconfig: cluster.kubeconfig,
      helm,
      home: join(paths.work, "helm"),
      signal,
    });
  };
  const crdsInstalled = waitForAll([
    install("flotilla-crds", hub),
    install("flotilla-flux-crds", hub),
  ]);
  const hubInstalled = crdsInstalled.then(() => install("flotilla", hub));
  const agents = spec.local ? [hub, ...members] : members;
  await waitForAll([
    hubInstalled.then(() => registerClusters(spec, hubRest, members)),
    ...agents.map((cluster) => install("flotilla-agent", cluster)),
  ]);
}

/** Resolves when their agents are connected. */
async function registerClusters(
  spec: InstallSpec,
  hubRest: KubeRest,
  members: readonly LocalCluster[],
): Promise<void> {
  const { signal } = spec;
  await waitForHub(hubRest, spec.paths, signal);
  spec.step("registering the clusters");
  const registration = await ensureRegistrationToken(hubRest, workspaceNamespace, "flotilla");
  const waitFor = (workspace: string, name: string): Promise<void> =>
    waitForAgent(hubRest, workspace, name, readyTimeoutMs, signal);
  await waitForAll([
    ...members.map(async (cluster) => {
      const { name } = cluster;
      await withClient(cluster, (rest) =>
        createBootstrapSecret(rest, registration, { clusterName: name, labels: { name } }),
      );
      await waitFor(workspaceNamespace, name);
    }),
    // The hub makes the Secret for its own cluster.
    ...(spec.local === true ? [waitFor(localNamespace, "local")] : []),
  ]);
}

async function waitForHub(
  rest: KubeRest,
  { logs }: FleetPaths,
  signal: AbortSignal,
): Promise<void> {
  await waitForObject(
    deployments,
    { namespace: hubNamespace, name: "flotilla" },
    (deployment) => (deployment?.status?.availableReplicas ?? 0) > 0,
    {
      rest,
      timeoutMs: readyTimeoutMs,
      signal,
      onTimeout: () =>
        `wait for the hub: it is not ready after ${readyTimeoutMs / 1000} s; see its log in ${join(logs, "hub")}, and the log of its pod in ${join(logs, "pods.log")}`,
    },
  );
}

async function withClient<T>(
  cluster: LocalCluster,
  work: (rest: KubeRest) => Promise<T>,
): Promise<T> {
  const rest = await connect(cluster);
  try {
    return await work(rest);
  } finally {
    await rest.close();
  }
}

export async function connect(cluster: LocalCluster): Promise<KubeRest> {
  return connectKube(await loadKubeconfig({ path: cluster.kubeconfig }));
}
