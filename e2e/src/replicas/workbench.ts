/** One fleet of three replicas for all tests of what becomes of it when one of them ends, dies or freezes. */
import { waitForObject } from "@flotilla/cli/fleet/wait.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { hubNamespace, workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { apiVersion, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { holderOf } from "@flotilla/shared/kube/leaderelection/lease-record.ts";
import { leases, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects/object.ts";
import { configChart } from "../testing/chart-archive.ts";
import { startChartServer } from "../testing/chart-server.ts";
import { helmOpThat, isReady, objectThat } from "../testing/expect.ts";
import {
  startTestFleet,
  type TestCluster,
  type TestFleet,
  type TestReplica,
} from "../testing/fleet.ts";
import type { LinkProxy } from "../testing/link-proxy.ts";

export interface Workbench {
  readonly fleet: TestFleet;
  readonly hub: KubeRest;
  readonly link: LinkProxy;
  /** `moving` is changed by the tests, `still` and the crowd never. */
  readonly chart: { readonly url: string };
  /** Changes `moving`; gives what its values say then. */
  change(): Promise<string>;
  /** Resolves once all clusters have confirmed the last change. */
  settled(): Promise<void>;
  /** The replica that leads. */
  leader(): Promise<TestReplica>;
  /** Resolves with the replica that leads as soon as it is another one than this. */
  leaderAfter(before: TestReplica): Promise<TestReplica>;
  /** Has the agents connect to these alone from now on. */
  sendAgentsTo(replicas: readonly TestReplica[]): void;
  /** Has all agents be connected to this replica. */
  gatherAt(replica: TestReplica): Promise<void>;
  clusterThat(
    cluster: TestCluster,
    what: string,
    isWanted: (cluster: Cluster) => boolean,
  ): Promise<Cluster>;
  /** How often the hub's API server was asked for all objects of a kind, by whomever. */
  listsOf(resource: Resource<KubeObject>): Promise<number>;
  /** How often Helm has installed or upgraded `moving`. */
  revisionIn(cluster: TestCluster): Promise<number>;
  close(): Promise<void>;
}

/**
 * HelmOps that nobody changes, all for the first cluster: so many that who leads anew has not looked at all of them before
 * it may have to write what it knows.
 */
export const crowd: readonly string[] = Array.from({ length: 60 }, (_, index) => `one-of-${index}`);

export function signal(replica: TestReplica, name: NodeJS.Signals): void {
  process.kill(replica.process().identity.pid, name);
}

export async function openWorkbench(): Promise<Workbench> {
  const [fleet, charts] = await Promise.all([
    startTestFleet({ clusters: [{}, {}], replicas: 3 }),
    startChartServer(),
  ]);
  const { hub, link, replicas } = fleet;
  if (link === undefined) throw new Error("there is no proxy before the replicas");
  let changes = 0;

  charts.publish(await configChart("app", "1.0.0"));
  const everywhere = { clusterSelector: {} };
  const first = { clusterName: fleet.clusters[0]?.name ?? "" };
  const wanted = [
    ...["still", "moving"].map((name) => ({ name, target: everywhere, clusters: 2 })),
    ...crowd.map((name) => ({ name, target: first, clusters: 1 })),
  ];
  await Promise.all(
    wanted.map(({ name, target }) =>
      hub.create(helmOps, {
        apiVersion,
        kind: "HelmOp",
        metadata: { namespace: workspaceNamespace, name },
        spec: {
          namespace: name,
          targets: [target],
          helm: { repo: charts.url, chart: "app", version: "1.0.0", values: { greeting: "0" } },
        },
      }),
    ),
  );
  for (const { name, clusters: count } of wanted)
    await helmOpThat(hub, name, "ready where it goes", isReady("1.0.0", count));

  async function leading(
    what: string,
    isWanted: (replica: TestReplica) => boolean,
  ): Promise<TestReplica> {
    const find = (holder: string | undefined) =>
      replicas.find(({ name }) => holder?.startsWith(`${name}_`) === true);
    const ref = { namespace: hubNamespace, name: "flotilla-hub" };
    const lease = await waitForObject(
      leases,
      ref,
      (seen) => {
        const replica = find(holderOf(seen));
        return replica !== undefined && isWanted(replica);
      },
      {
        rest: hub,
        timeoutMs: 30_000,
        onTimeout: (last) => `${what} within 30 s: ${JSON.stringify(last?.spec)}`,
      },
    );
    const replica = find(holderOf(lease));
    if (replica === undefined) throw new Error("nobody leads");
    return replica;
  }

  async function clusterThat(
    { name }: TestCluster,
    what: string,
    isWanted: (cluster: Cluster) => boolean,
  ): Promise<Cluster> {
    const ref = { namespace: workspaceNamespace, name };
    const found = await objectThat(
      hub,
      clusters,
      ref,
      what,
      (seen) => seen !== undefined && isWanted(seen),
    );
    if (found === undefined) throw new Error(`Cluster ${name} is not there`);
    return found;
  }

  function sendAgentsTo(wanted: readonly TestReplica[]): void {
    link?.setBackends(wanted.map(({ ports }) => ports.grpc));
  }

  return {
    fleet,
    hub,
    link,
    chart: charts,
    async change() {
      changes += 1;
      const greeting = String(changes);
      await hub.patch(
        helmOps,
        { namespace: workspaceNamespace, name: "moving" },
        { type: "merge", body: { spec: { helm: { values: { greeting } } } } },
      );
      return greeting;
    },
    async settled() {
      await helmOpThat(hub, "moving", "ready in both", isReady("1.0.0", 2));
    },
    leader: () => leading("nobody led", () => true),
    leaderAfter: (before) => leading(`nobody led but ${before.name}`, (each) => each !== before),
    sendAgentsTo,
    async gatherAt(replica) {
      sendAgentsTo([replica]);
      for (const other of replicas) if (other !== replica) link.cut(other.ports.grpc);
      for (const cluster of fleet.clusters)
        await clusterThat(
          cluster,
          `connected to ${replica.name}`,
          ({ status }) =>
            status?.agent?.connected === true && status.agent.replica === replica.name,
        );
    },
    clusterThat,
    async listsOf({ plural }) {
      const isWanted = (labels: string) =>
        labels.includes(`resource="${plural}"`) && labels.includes('verb="LIST"');
      return [...(await hub.raw("/metrics")).matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)]
        .filter(([, labels = ""]) => isWanted(labels))
        .reduce((sum, [, , count]) => sum + Number(count), 0);
    },
    async revisionIn(cluster) {
      const records = await cluster.rest.list(secrets, {
        namespace: "moving",
        labelSelector: "owner=helm",
      });
      return Math.max(
        0,
        ...records.items.map(({ metadata }) => Number(metadata.labels?.["version"])),
      );
    },
    async close() {
      await fleet.close();
      await charts.close();
    },
  };
}

/** The last change of a HelmOp that its status speaks of. */
export function observed({ status }: HelmOp): number {
  return status?.observedGeneration ?? 0;
}
