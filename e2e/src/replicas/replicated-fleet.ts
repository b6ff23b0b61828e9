/** A fleet of three replicas of the hub and two clusters: its leader, its agents' connections, and HelmOps. */

import assert from "node:assert/strict";
import type { Cluster, HelmOp } from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import { type KubeObject, leases, type Resource } from "@flotilla/shared/kube/objects";
import { configChart } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster, TestFleet } from "../harness/fleet.ts";
import type { LinkProxy } from "../harness/link-proxy.ts";
import type { TestReplica } from "../harness/processes.ts";
import { lastRevision } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";

export interface ReplicatedFleet {
  readonly fleet: TestFleet;
  readonly hub: ClusterClient;
  readonly link: LinkProxy;
  /** Changes the values of the HelmOp `moving`; `still` and the others are never changed. */
  change(): Promise<void>;
  /** Resolves once `moving` is Ready in both clusters with its last change. */
  settled(): Promise<void>;
  /** The replica that leads. */
  leader(): Promise<TestReplica>;
  /** Resolves with the replica that leads once it is another one than `previous`. */
  leaderAfter(previous: TestReplica): Promise<TestReplica>;
  /** Stops each replica and starts it again, one after the other; gives how long each failover took. */
  rollingRestart(): Promise<readonly number[]>;
  /** New connections of agents go to these replicas. */
  routeAgentsTo(replicas: readonly TestReplica[]): void;
  /** Resolves once all agents are connected to this replica. */
  connectAgentsTo(replica: TestReplica): Promise<void>;
  clusterThat(
    cluster: TestCluster,
    what: string,
    isDesired: (cluster: Cluster) => boolean,
  ): Promise<Cluster>;
  /** LIST requests for a kind that the hub's API server has answered, to any client. */
  listsOf(resource: Resource<KubeObject>): Promise<number>;
  /** How often Helm has installed or upgraded `moving`. */
  revisionIn(cluster: TestCluster): Promise<number>;
}

export function signal(replica: TestReplica, name: NodeJS.Signals): void {
  process.kill(replica.process().identity.pid, name);
}

/**
 * Lasts for the file. `unchanged`: HelmOps that are never changed, all for the first cluster; with many of them a newly elected
 * leader may have to write statuses before it has reconciled all.
 */
export async function startReplicatedFleet(unchanged: number): Promise<ReplicatedFleet> {
  const { fleet, charts } = await startFleetForFile({ clusters: [{}, {}], replicas: 3 });
  const { hub, link, replicas, workspace } = fleet;
  if (link === undefined) throw new Error("the fleet has no proxy before its replicas");
  let changes = 0;

  charts.publish(await configChart("app", "1.0.0"));
  const everywhere = { clusterSelector: {} };
  const first = { clusterName: fleet.clusters[0]?.name ?? "" };
  const created = [
    ...["still", "moving"].map((name) => ({ name, target: everywhere, clusters: 2 })),
    ...names(unchanged).map((name) => ({ name, target: first, clusters: 1 })),
  ];
  await Promise.all(
    created.map(({ name, target }) =>
      workspace.createHelmOp(name, {
        targets: [target],
        helm: { repo: charts.url, chart: "app", version: "1.0.0", values: { greeting: "0" } },
      }),
    ),
  );
  for (const { name, clusters: count } of created)
    await workspace.waitUntilReady(name, "1.0.0", count);

  async function leading(
    what: string,
    isDesired: (replica: TestReplica) => boolean,
  ): Promise<TestReplica> {
    const find = (holder: string | undefined) =>
      replicas.find(({ name }) => holder?.startsWith(`${name}_`) === true);
    const ref = { namespace: hubNamespace, name: "flotilla-hub" };
    const lease = await waitForObject(hub, leases, ref, what, (seen) => {
      const replica = find(holderOf(seen));
      return replica !== undefined && isDesired(replica);
    });
    const replica = find(holderOf(lease));
    if (replica === undefined) throw new Error("no replica leads");
    return replica;
  }

  const clusterThat: ReplicatedFleet["clusterThat"] = ({ name }, what, isDesired) =>
    workspace.waitForCluster(name, what, isDesired);

  function routeAgentsTo(targets: readonly TestReplica[]): void {
    link?.setBackends(targets.map(({ ports }) => ports.grpc));
  }

  const leader = () => leading("held by a replica", () => true);
  const leaderAfter = (previous: TestReplica) =>
    leading(`held by another replica than ${previous.name}`, (each) => each !== previous);

  async function rollingRestart(): Promise<readonly number[]> {
    const failoverMs: number[] = [];
    for (const replica of replicas) {
      const isLeader = (await leader()) === replica;
      const stoppedAt = performance.now();
      const stopping = replica.stop();
      if (isLeader) {
        await leaderAfter(replica);
        failoverMs.push(performance.now() - stoppedAt);
      }
      await stopping;
      assert.equal(replica.process().exit()?.code, 0);
      await replica.start();
    }
    assert.ok(failoverMs.length > 0);
    return failoverMs;
  }

  return {
    fleet,
    hub,
    link,
    async change() {
      changes += 1;
      const greeting = String(changes);
      await workspace.patchHelmOp("moving", { helm: { values: { greeting } } });
    },
    async settled() {
      await workspace.waitUntilReady("moving", "1.0.0", 2);
    },
    leader,
    leaderAfter,
    rollingRestart,
    routeAgentsTo,
    async connectAgentsTo(replica) {
      routeAgentsTo([replica]);
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
      const isList = (labels: string) =>
        labels.includes(`resource="${plural}"`) && labels.includes('verb="LIST"');
      return [...(await hub.raw("/metrics")).matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)]
        .filter(([, labels = ""]) => isList(labels))
        .reduce((sum, [, , count]) => sum + Number(count), 0);
    },
    revisionIn(cluster) {
      return lastRevision(cluster.client, "moving");
    },
  };
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `unchanged-${index}`);
}

/** The generation that a HelmOp's status is of. */
export function observedGeneration({ status }: HelmOp): number {
  return status?.observedGeneration ?? 0;
}
