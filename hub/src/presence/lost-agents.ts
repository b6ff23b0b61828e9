/**
 * Writes that the agents of a replica that is gone are gone with it, unless they have come to another meanwhile, and
 * collects the Leases of the dead. The leader's: while a replica is there nobody else speaks for its agents.
 */
import type { Cluster, ClusterAgent } from "@flotilla/shared/api/cluster.ts";
import type { Informer } from "@flotilla/shared/kube/cache/informer.ts";
import { defineIndex } from "@flotilla/shared/kube/cache/object-index.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isConflict } from "@flotilla/shared/kube/client/status-error.ts";
import { createController } from "@flotilla/shared/kube/controller/controller.ts";
import { done, type Reconcile, requeueAfter } from "@flotilla/shared/kube/controller/reconcile.ts";
import { type Lease, leases } from "@flotilla/shared/kube/objects/core-resources.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import pLimit from "p-limit";
import type { Registry } from "prom-client";
import { lastSeen, toTime } from "./last-seen.ts";
import type { Replicas } from "./replicas.ts";
import { writeCluster } from "./write-cluster.ts";

/** Clusters recorded as connected, by their replica. */
export const byReplica = defineIndex<Cluster>("replica", ({ status }) =>
  status?.agent?.connected === true ? [status.agent.replica ?? ""] : [],
);

export interface LostAgentsDeps {
  /** Refuses writes once the leadership is lost. */
  readonly rest: KubeRest;
  readonly clusters: Pick<Informer<Cluster>, "store" | "onChange">;
  readonly replicas: Replicas;
  /** The name of this replica, which speaks for its agents itself. */
  readonly replica: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Clusters that are written at the same time. */
const parallelWrites = 16;
/** A Lease that nobody keeps is of use to whoever asks since when its replica is gone. */
const collectAfterMs = 10 * 60_000;

/** Keyed by the names of replicas; runs until `signal` aborts. The caches must have synced. */
export async function runLostAgents(deps: LostAgentsDeps, signal: AbortSignal): Promise<void> {
  const { clusters, replicas, clock, log, metrics } = deps;
  const controller = createController({
    name: "replica",
    reconcile: lostAgentsReconciler(deps),
    log,
    metrics,
    clock,
  });
  const stop = [
    replicas.onChange((replica) => controller.enqueue(replica)),
    clusters.onChange(({ after }) => {
      const agent = after?.status?.agent;
      if (agent?.connected !== true) return;
      const { replica = "" } = agent;
      // Of a replica that is there its Lease tells, again and again.
      const isKept = replicas.leaseOf(replica) !== undefined;
      if (!isKept || replicas.silenceOf(replica).kind === "gone") controller.enqueue(replica);
    }),
  ];
  const holders = clusters.store
    .list()
    .flatMap(({ status }) =>
      status?.agent?.connected === true ? [status.agent.replica ?? ""] : [],
    );
  for (const replica of new Set([...replicas.names(), ...holders])) controller.enqueue(replica);
  await controller.run(signal);
  for (const each of stop) each();
}

export function lostAgentsReconciler(deps: Omit<LostAgentsDeps, "metrics" | "log">): Reconcile {
  const { rest, replicas, clock } = deps;
  const clusters = deps.clusters.store;
  const limit = pLimit(parallelWrites);

  return async function reconcile(replica, { signal, log }) {
    if (replica === deps.replica) return done();
    const silence = replicas.silenceOf(replica);
    if (silence.kind === "unknown") return requeueAfter(silence.waitMs, "the replica may be there");
    const lease = replicas.leaseOf(replica);
    const heard = lease?.spec?.renewTime ?? toTime(clock.now() - silence.forMs);
    const keys = clusters.byIndex(byReplica, replica).map(keyOf);
    const written = await Promise.all(
      keys.map((key) => limit(() => writeGone(key, replica, heard, signal))),
    );
    const count = written.filter(Boolean).length;
    if (count > 0) log.warn({ replica, agents: count }, "replica is gone, and agents with it");
    if (lease === undefined) return done();
    const waitMs = collectAfterMs - silence.forMs;
    if (waitMs > 0) return requeueAfter(waitMs, "its Lease tells since when it is gone");
    await collect(lease, signal);
    return done();
  };

  /** Whether it was so. */
  async function writeGone(
    key: ObjectKey,
    replica: string,
    heard: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    let isLost = false;
    await writeCluster(
      { rest, clusters },
      key,
      ({ status }) => {
        isLost = isLostWith(replica, status?.agent);
        if (!isLost) return undefined;
        const agent = status?.agent ?? {};
        return { agent: { ...agent, connected: false, lastSeen: lastSeen(agent, heard) } };
      },
      { signal },
    );
    return isLost;
  }

  async function collect(lease: Lease, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, namespace = "", name } = lease.metadata;
    try {
      await rest.delete(
        leases,
        { namespace, name },
        { signal, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
      );
    } catch (thrown) {
      // Its replica keeps it again.
      if (!isConflict(thrown)) throw thrown;
    }
  }
}

function isLostWith(replica: string, agent: ClusterAgent | undefined): boolean {
  return agent?.connected === true && (agent.replica ?? "") === replica;
}
