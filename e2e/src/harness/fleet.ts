/**
 * A whole fleet on real control planes for tests: a hub, its clusters and agents as processes, each of which can be
 * ended and started again, and a chart repository that can be broken. Put together from the parts that `flotilla up` uses.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  chooseHubPorts,
  createBootstrapSecret,
  ensureRegistrationToken,
  type HubPorts,
  installCrds,
  startAgent,
  startHub,
  waitForAgent,
} from "@flotilla/cli/fleet";
import { ensureBinaries } from "@flotilla/local/binaries";
import {
  type ControlPlane,
  controlPlaneTools,
  startControlPlane,
} from "@flotilla/local/control-plane";
import { type RunningProcess, startReaper } from "@flotilla/local/process";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import { leaseControlPlane, type PlaneAccess } from "./control-planes.ts";
import { type LinkProxy, startLinkProxy } from "./link-proxy.ts";

export interface TestCluster {
  readonly name: string;
  readonly rest: KubeRest;
  readonly plane: PlaneAccess;
  /** The log of its agents, one after the other. */
  readonly agentLog: string;
  agent(): RunningProcess;
  startAgent(): Promise<void>;
  stopAgent(): Promise<void>;
}

/** One of the hub's processes. */
export interface TestReplica {
  readonly name: string;
  readonly ports: HubPorts;
  /** The log of its processes, one after the other. */
  readonly logFile: string;
  process(): RunningProcess;
  start(): Promise<void>;
  stop(): Promise<void>;
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
  readonly hub: KubeRest;
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
  /** Done while nothing runs. */
  readonly meanwhile?: () => Promise<void>;
  /** The folder with etcd's data; an empty one makes a cluster that knows nothing. */
  readonly etcdDir?: string;
}

export interface TestFleetSpec {
  /** Labels of each cluster; one cluster for each entry, `cluster-1` and so on. */
  readonly clusters: readonly Readonly<Record<string, string>>[];
  /** The workspace of each of them; by default all are in `fleet-default`. */
  readonly workspaces?: readonly string[];
  /** Of the hub; default 1. With more of them a LinkProxy stands between them and the agents. */
  readonly replicas?: number;
  /** Has a LinkProxy stand before a single replica, too. */
  readonly proxied?: boolean;
  /** Has control planes of its own, which a test may kill and restart; by default they are leased from those of the run. */
  readonly ownPlanes?: boolean;
  /** More of the hub's environment. */
  readonly hubEnvironment?: Readonly<Record<string, string>>;
}

const connectTimeoutMs = 60_000;

export async function startTestFleet(spec: TestFleetSpec): Promise<TestFleet> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-e2e-"));
  const reaper = startReaper();
  const environment = { PATH: process.env["PATH"] ?? "", HOME: dir };
  const binaries = await ensureBinaries([...controlPlaneTools, "helm"]);
  const startPlane = (name: string, workloads: boolean, etcdDir?: string) =>
    startControlPlane({
      name,
      dir: join(dir, name),
      binaries,
      workloads,
      reaper,
      ...(etcdDir !== undefined && { etcdDir }),
    });
  const leaseOrStart = async (name: string, kind: "hub" | "cluster") => {
    const own = spec.ownPlanes === true ? await startPlane(name, kind === "cluster") : undefined;
    const plane = own ?? (await leaseControlPlane(kind));
    const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
    return { name, plane, own, rest };
  };
  const names = spec.clusters.map((_, index) => `cluster-${index + 1}`);
  const [hub, ...members] = await Promise.all([
    leaseOrStart("hub", "hub"),
    ...names.map((name) => leaseOrStart(name, "cluster")),
  ]);

  let ownHubPlane = hub.own;
  await installCrds(hub.rest);
  const { replicas: count = 1, proxied = count > 1 } = spec;
  const link = proxied ? await startLinkProxy() : undefined;
  const startReplica = async (index: number): Promise<TestReplica> => {
    const name = `hub-${index}`;
    const ports = await chooseHubPorts();
    const logFile = join(dir, "logs", index === 0 ? "hub.log" : `${name}.log`);
    const run = () =>
      startHub({
        kubeconfig: hub.plane.kubeconfig,
        ports,
        logFile,
        environment: { ...environment, ...spec.hubEnvironment },
        reaper,
        replica: name,
        ...(link !== undefined && { advertise: `127.0.0.1:${link.port}` }),
      });
    let running = await run();
    return {
      name,
      ports,
      logFile,
      process: () => running,
      async start() {
        running = await run();
      },
      stop: () => running.stop(),
    };
  };
  const first = await startReplica(0);
  const others = Array.from({ length: count - 1 }, (_, index) => startReplica(index + 1));
  const replicas = [first, ...(await Promise.all(others))];
  link?.setBackends(replicas.map(({ ports }) => ports.grpc));
  const workspaceOf = (index: number) => spec.workspaces?.[index] ?? workspaceNamespace;
  const registrations = new Map(
    await Promise.all(
      [...new Set(members.map((_, index) => workspaceOf(index)))].map(
        async (workspace) =>
          [workspace, await ensureRegistrationToken(hub.rest, workspace, "tests")] as const,
      ),
    ),
  );

  const clusters = await Promise.all(
    members.map(async ({ name, plane, rest }, index): Promise<TestCluster> => {
      const workspace = workspaceOf(index);
      await createBootstrapSecret(rest, registrations.get(workspace) ?? {}, {
        clusterName: name,
        labels: spec.clusters[index] ?? {},
      });
      const dataDir = join(dir, `${name}-agent`);
      const agentLog = join(dir, "logs", `${name}-agent.log`);
      await mkdir(dataDir, { recursive: true });
      const runAgent = () =>
        startAgent({
          cluster: name,
          kubeconfig: plane.kubeconfig,
          dataDir,
          helm: binaries.helm,
          logFile: agentLog,
          environment,
          reaper,
        });
      let agent = await runAgent();
      await waitForAgent(hub.rest, workspace, name, connectTimeoutMs);
      return {
        name,
        rest,
        plane,
        agentLog,
        agent: () => agent,
        async startAgent() {
          agent = await runAgent();
        },
        stopAgent: () => agent.stop(),
      };
    }),
  );

  return {
    dir,
    helm: binaries.helm,
    hubPlane: hub.plane,
    ownHubPlane() {
      if (ownHubPlane === undefined) throw new Error("the fleet has no planes of its own");
      return ownHubPlane;
    },
    hubLog: first.logFile,
    hub: hub.rest,
    hubPorts: first.ports,
    replicas,
    link,
    clusters,
    hubProcess: first.process,
    startHub: first.start,
    stopHub: first.stop,
    async restartHubPlane({ meanwhile, etcdDir } = {}) {
      if (ownHubPlane === undefined) throw new Error("the fleet has no planes of its own");
      await ownHubPlane.stop();
      await meanwhile?.();
      ownHubPlane = await startPlane("hub", false, etcdDir);
    },
    async close() {
      await Promise.all(
        clusters.map(async (cluster) => {
          await cluster.stopAgent();
          await cluster.rest.close();
        }),
      );
      await Promise.all(replicas.map((replica) => replica.stop()));
      await link?.close();
      await hub.rest.close();
      await Promise.all(
        [ownHubPlane ?? hub.plane, ...members.map(({ plane }) => plane)].map((each) => each.stop()),
      );
      await reaper.release();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
