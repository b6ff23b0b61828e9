/**
 * A fleet on real control planes for tests: hub and agents are processes that can be stopped and started again, with the
 * rights of their charts. It consists of the parts that `flotilla up` uses.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import {
  createBootstrapSecret,
  ensureRegistrationToken,
  installCrds,
  waitForAgent,
} from "@flotilla/cli/fleet";
import { ensureBinaries } from "@flotilla/local/binaries";
import {
  type ControlPlane,
  controlPlaneTools,
  startControlPlane,
} from "@flotilla/local/control-plane";
import { exitError, type Reaper, type RunningProcess, startReaper } from "@flotilla/local/process";
import { localNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { namespaces } from "@flotilla/shared/kube/objects";
import { assertRightsSuffice, type RightsOptions, withChartRights } from "./chart-rights.ts";
import { type ClusterClient, connectCluster } from "./cluster-client.ts";
import type { PlaneKind } from "./control-plane-pool.ts";
import { leaseControlPlane, type PlaneAccess } from "./control-planes.ts";
import { hangMs } from "./hang.ts";
import type { HubPorts } from "./hub-program.ts";
import { type LinkProxy, startLinkProxy } from "./link-proxy.ts";
import {
  type AgentProcess,
  type EntryFiles,
  type ProcessContext,
  startAgentProcess,
  startReplica,
  type TestReplica,
} from "./processes.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

export interface TestCluster {
  readonly name: string;
  readonly client: ClusterClient;
  readonly plane: PlaneAccess;
  /** The log of its agents, one after the other. */
  readonly agentLog: string;
  agent(): RunningProcess;
  startAgent(): Promise<void>;
  stopAgent(): Promise<void>;
  /** Another agent of this cluster, with a data directory of its own: one of them is active. */
  startSecondAgent(): Promise<AgentProcess>;
}

export interface TestFleet {
  readonly dir: string;
  readonly helm: string;
  readonly hubPlane: PlaneAccess;
  /** The hub's control plane with its processes; throws unless the fleet has planes of its own. */
  ownHubPlane(): ControlPlane;
  /** The log of the first replica. */
  readonly hubLog: string;
  /** The hub's API server. */
  readonly hub: ClusterClient;
  /** The workspace `fleet-default`. */
  readonly workspace: Workspace;
  readonly hubPorts: HubPorts;
  readonly replicas: readonly TestReplica[];
  /** Between the agents and the hub, where there is one. */
  readonly link: LinkProxy | undefined;
  readonly clusters: readonly TestCluster[];
  /** The first replica's. */
  hubProcess(): RunningProcess;
  startHub(): Promise<void>;
  stopHub(): Promise<void>;
  /**
   * Ends the hub's API server and etcd and starts them again at the same address, on other data where it is given. Only for a
   * fleet with planes of its own.
   */
  restartHubPlane(options?: PlaneRestart): Promise<void>;
  close(): Promise<void>;
}

export interface PlaneRestart {
  /** Called while both are stopped. */
  readonly meanwhile?: () => Promise<void>;
  /** The folder with etcd's data; with an empty one the cluster has no objects. */
  readonly etcdDir?: string;
}

export interface TestFleetSpec {
  /** Labels of each cluster; one cluster for each entry. */
  readonly clusters: readonly Readonly<Record<string, string>>[];
  /** The name of each of them; default `cluster-1` and so on. */
  readonly names?: readonly string[];
  /** The workspace of each of them; by default all are in `fleet-default`. */
  readonly workspaces?: readonly string[];
  /** The replicas of the hub; default 1. With more than one a LinkProxy is between them and the agents. */
  readonly replicas?: number;
  /** A LinkProxy is before a single replica, too. */
  readonly proxied?: boolean;
  /** Has control planes of its own, which a test may kill and restart; by default they are leased from those of the run. */
  readonly ownPlanes?: boolean;
  /** The entry files of the next process that is started; default: those of this version. */
  readonly entryFiles?: () => EntryFiles | undefined;
  /** The agents act only as service accounts of these namespaces, which are created, and have no other rights. */
  readonly impersonationNamespaces?: readonly string[];
  /** More of the hub's environment. */
  readonly hubEnvironment?: Readonly<Record<string, string>>;
  /** More flags of the next hub that is started. */
  readonly hubFlags?: (ports: HubPorts) => readonly string[];
  /** The values of the hub's chart, from which it has its rights, as `--set` has them. */
  readonly hubValues?: readonly string[];
  /** More flags of all agents. */
  readonly agentFlags?: readonly string[];
  /** More of the agents' environment. */
  readonly agentEnvironment?: Readonly<Record<string, string>>;
  /** The hub's own cluster, on which workloads run then, is enrolled as `fleet-local/local`, after the others. */
  readonly local?: boolean;
}

interface OwnedCluster extends TestCluster {
  stopAll(): Promise<void>;
}

/** The name of the hub's own cluster. */
const localCluster = "local";

type FleetPlaneKind = Exclude<PlaneKind, "bare">;

interface FleetPlane {
  readonly plane: PlaneAccess & { stop(): Promise<void> };
  /** When the fleet has started it for itself. */
  readonly own: ControlPlane | undefined;
  readonly client: ClusterClient;
}

export async function startTestFleet(spec: TestFleetSpec): Promise<TestFleet> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-e2e-"));
  const reaper = startReaper();
  const binaries = await ensureBinaries([...controlPlaneTools, "helm", "kustomize", "confine"]);
  const context = {
    dir,
    reaper,
    environment: {
      // The agent finds these there; its earlier versions have no flags for them.
      PATH: [
        dirname(binaries.kustomize),
        dirname(binaries.confine),
        process.env["PATH"] ?? "",
      ].join(delimiter),
      HOME: dir,
    },
    ...(spec.entryFiles !== undefined && { entryFiles: spec.entryFiles }),
  };
  const planes = createPlanes(dir, binaries, reaper);
  const obtain = spec.ownPlanes === true ? planes.startOwn : planes.lease;
  const names = spec.clusters.map((_, index) => spec.names?.[index] ?? `cluster-${index + 1}`);
  const [hub, ...others] = await Promise.all([
    obtain("hub", spec.local === true ? "local" : "hub"),
    ...names.map((name) => obtain(name, "cluster")),
  ]);
  const members = [
    ...others.map((member, index) => ({
      ...member,
      name: names[index] ?? "",
      workspace: spec.workspaces?.[index] ?? workspaceNamespace,
      labels: spec.clusters[index] ?? {},
    })),
    ...(spec.local === true
      ? [{ ...hub, name: localCluster, workspace: localNamespace, labels: {} }]
      : []),
  ];
  let ownHubPlane = hub.own;
  function requireOwnHubPlane(): ControlPlane {
    if (ownHubPlane === undefined) throw new Error("the fleet has no planes of its own");
    return ownHubPlane;
  }

  // Leased ones have them.
  if (hub.own !== undefined) await installCrds(hub.client);
  const { helm } = binaries;
  const grantHub = () =>
    withChartRights("hub", {
      ...{ dir, helm, plane: hub.plane, client: hub.client },
      ...(spec.hubValues !== undefined && { values: spec.hubValues }),
    });
  const { replicas, link } = await startReplicas(context, await grantHub(), spec);
  const [first] = replicas;
  if (first === undefined) throw new Error("the fleet has no replica of the hub");
  const register = createRegistrations(hub.client);
  const clusters = await Promise.all(
    members.map(async ({ plane, client, name, workspace, labels }): Promise<OwnedCluster> => {
      await createBootstrapSecret(client, await register(workspace), {
        clusterName: name,
        labels,
      });
      const kubeconfig = await grantAgent(spec, { dir, helm, plane, client });
      const args = agentArgs(spec);
      const agent = await startAgentProcess(
        { ...context, environment: { ...context.environment, ...spec.agentEnvironment } },
        { name, kubeconfig, helm, args },
      );
      const more: AgentProcess[] = [];
      await waitForAgent(hub.client, workspace, name, hangMs);
      return {
        name,
        client,
        plane,
        agentLog: agent.logFile,
        agent: agent.process,
        startAgent: agent.start,
        stopAgent: agent.stop,
        async startSecondAgent() {
          const other = await startAgentProcess(context, {
            name: `${name}-second`,
            kubeconfig,
            helm,
            args,
          });
          more.push(other);
          return other;
        },
        stopAll: async () => {
          await Promise.all([agent, ...more].map((each) => each.stop()));
        },
      };
    }),
  );

  return {
    dir,
    helm,
    hubPlane: hub.plane,
    ownHubPlane: requireOwnHubPlane,
    hubLog: first.logFile,
    hub: hub.client,
    workspace: createWorkspace(hub.client),
    hubPorts: first.ports,
    replicas,
    link,
    clusters,
    hubProcess: first.process,
    startHub: first.start,
    stopHub: first.stop,
    async restartHubPlane({ meanwhile, etcdDir } = {}) {
      await requireOwnHubPlane().stop();
      await meanwhile?.();
      ownHubPlane = await planes.start("hub", "hub", etcdDir);
      // Other data has another service account, or none.
      if (etcdDir !== undefined) await grantHub();
    },
    async close() {
      const failure = await failureOf([
        ...replicas.map((replica) => replica.process()),
        ...clusters.map((cluster) => cluster.agent()),
      ]);
      await Promise.all(
        clusters.map(async (cluster) => {
          await cluster.stopAll();
          if (cluster.client !== hub.client) await cluster.client.close();
        }),
      );
      await Promise.all(replicas.map((replica) => replica.stop()));
      // While an API server starts it refuses requests until it has read the roles.
      if (spec.ownPlanes !== true)
        await assertRightsSuffice([
          ...replicas.map((replica) => replica.logFile),
          ...clusters.map((cluster) => cluster.agentLog),
        ]);
      await link?.close();
      await hub.client.close();
      await Promise.all(
        [ownHubPlane ?? hub.plane, ...others.map(({ plane }) => plane)].map((each) => each.stop()),
      );
      await reaper.release();
      await rm(dir, { recursive: true, force: true });
      if (failure !== undefined) throw failure;
    },
  };
}

/** Why the first of them that has failed did so: tests that waited for it have not said. One that a test killed has a signal. */
async function failureOf(processes: readonly RunningProcess[]): Promise<Error | undefined> {
  const failed = processes.find((each) => (each.exit()?.code ?? 0) !== 0);
  return failed && (await exitError(failed));
}

/** Returns the path of the agent's kubeconfig. */
async function grantAgent(
  { impersonationNamespaces }: TestFleetSpec,
  options: RightsOptions,
): Promise<string> {
  if (impersonationNamespaces === undefined) return await withChartRights("agent", options);
  for (const name of impersonationNamespaces)
    await options.client.create(namespaces, { metadata: { name } });
  const listed = impersonationNamespaces.join(",");
  const values = ["impersonation.required=true", `impersonation.namespaces={${listed}}`];
  return await withChartRights("agent", { ...options, values });
}

function agentArgs({ impersonationNamespaces, agentFlags = [] }: TestFleetSpec): readonly string[] {
  if (impersonationNamespaces === undefined) return agentFlags;
  return [`--impersonation-namespaces=${impersonationNamespaces.join(",")}`, ...agentFlags];
}

/** Control planes that are leased, and ones that the fleet starts for itself. */
function createPlanes(
  dir: string,
  binaries: Readonly<Record<(typeof controlPlaneTools)[number], string>>,
  reaper: Reaper,
) {
  async function connected<P extends PlaneAccess>(plane: P) {
    return { plane, client: await connectCluster(plane.kubeconfig) };
  }

  const start = (name: string, kind: FleetPlaneKind, etcdDir?: string): Promise<ControlPlane> =>
    startControlPlane({
      name,
      dir: join(dir, name),
      binaries,
      workloads: kind !== "hub",
      // The benchmarks measure with all processors, and thousands of clusters are more than a plane for tests has memory for.
      ...(process.env["VITEST"] !== undefined && { shortLived: true, processors: 1 }),
      reaper,
      ...(etcdDir !== undefined && { etcdDir }),
    });

  return {
    start,
    async lease(_name: string, kind: FleetPlaneKind): Promise<FleetPlane> {
      return { own: undefined, ...(await connected(await leaseControlPlane(kind))) };
    },
    async startOwn(name: string, kind: FleetPlaneKind): Promise<FleetPlane> {
      const own = await start(name, kind);
      return { own, ...(await connected(own)) };
    },
  };
}

async function startReplicas(
  context: ProcessContext,
  kubeconfig: string,
  { replicas: count = 1, proxied = count > 1, hubEnvironment = {}, hubFlags }: TestFleetSpec,
): Promise<{ readonly replicas: readonly TestReplica[]; readonly link: LinkProxy | undefined }> {
  const link = proxied ? await startLinkProxy() : undefined;
  const start = (index: number) =>
    startReplica(context, {
      index,
      kubeconfig,
      environment: hubEnvironment,
      ...(hubFlags !== undefined && { flags: hubFlags }),
      ...(link !== undefined && { advertise: `127.0.0.1:${link.port}` }),
    });
  const first = await start(0);
  const others = Array.from({ length: count - 1 }, (_, index) => start(index + 1));
  const replicas = [first, ...(await Promise.all(others))];
  link?.setBackends(replicas.map(({ ports }) => ports.grpc));
  return { replicas, link };
}

/** The registration of each workspace, made once. */
function createRegistrations(hub: ClusterClient) {
  async function registration(workspace: string) {
    // The hub creates these two.
    if (workspace !== workspaceNamespace && workspace !== localNamespace)
      await hub.create(namespaces, { metadata: { name: workspace } });
    return await ensureRegistrationToken(hub, workspace, "tests");
  }

  const registrations = new Map<string, ReturnType<typeof ensureRegistrationToken>>();
  return (workspace: string) => {
    const made = registrations.get(workspace) ?? registration(workspace);
    registrations.set(workspace, made);
    return made;
  };
}
