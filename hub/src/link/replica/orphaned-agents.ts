/**
 * The controller of replicas, on the leader: records agents of a replica whose Lease has expired as offline, unless they have
 * connected to another one, and deletes old Leases. While a replica holds its Lease it alone writes about its agents.
 */

import type { Cluster, ClusterAgent } from "@flotilla/shared/api";
import { createSemaphore } from "@flotilla/shared/concurrency";
import type { Informer } from "@flotilla/shared/kube/cache";
import { isConflict, type KubeRest } from "@flotilla/shared/kube/client";
import {
  createController,
  done,
  type Reconcile,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import { keyOf, type Lease, leases, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTime } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import { byReplica } from "../../base/index.ts";
import { lastSeen, writeAgentStatus } from "../presence/agent-status.ts";
import type { Replicas } from "./replicas.ts";

export interface OrphanedAgentsDeps {
  /** Rejects writes after the leadership is lost. */
  readonly rest: KubeRest;
  readonly clusters: Pick<Informer<Cluster>, "store" | "onChange">;
  readonly replicas: Replicas;
  /** The name of this replica, which records its agents itself. */
  readonly replica: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Clusters written at the same time. */
const parallelWrites = 16;
/** An expired Lease is kept for a while, because it shows since when its replica is gone. */
const deleteAfterMs = 10 * 60_000;

/** Keyed by the name of a replica. Runs until `signal` aborts. The caches must have synced. */
export async function runOrphanedAgents(
  deps: OrphanedAgentsDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clusters, replicas, clock, log, metrics } = deps;
  const controller = createController({
    name: "replica",
    reconcile: orphanedAgentsReconciler(deps),
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
      // The renewals of a live replica enqueue it anyway.
      const hasLease = replicas.leaseOf(replica) !== undefined;
      if (!hasLease || replicas.expiryOf(replica).kind === "expired") controller.enqueue(replica);
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

export function orphanedAgentsReconciler(
  deps: Omit<OrphanedAgentsDeps, "metrics" | "log">,
): Reconcile {
  const { rest, replicas, clock } = deps;
  const clusters = deps.clusters.store;
  const semaphore = createSemaphore(parallelWrites);

  return async function reconcile(replica, { signal, log }) {
    if (replica === deps.replica) return done();
    const expiry = replicas.expiryOf(replica);
    if (expiry.kind === "unknown")
      return requeueAfter(expiry.waitMs, "the Lease may still be renewed");
    const lease = replicas.leaseOf(replica);
    const lastRenewal = lease?.spec?.renewTime ?? formatTime(clock.now() - expiry.forMs);
    const keys = clusters.byIndex(byReplica, replica).map(keyOf);
    const written = await Promise.all(
      keys.map((key) => semaphore.run(() => writeOffline(key, replica, lastRenewal, signal))),
    );
    const count = written.filter(Boolean).length;
    if (count > 0)
      log.warn(
        { replica, agents: count },
        "Lease of a replica expired; recorded its agents as offline",
      );
    if (lease === undefined) return done();
    const waitMs = deleteAfterMs - expiry.forMs;
    if (waitMs > 0) return requeueAfter(waitMs, "the expired Lease is kept for a while");
    await deleteLease(lease, signal);
    return done();
  };

  /** Whether the agent was recorded as connected to the replica. */
  async function writeOffline(
    key: ObjectKey,
    replica: string,
    lastRenewal: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    let isOrphaned = false;
    await writeAgentStatus(
      { rest, clusters },
      key,
      ({ status }) => {
        isOrphaned = isRecordedWith(replica, status?.agent);
        if (!isOrphaned) return undefined;
        const agent = status?.agent ?? {};
        return { agent: { ...agent, connected: false, lastSeen: lastSeen(agent, lastRenewal) } };
      },
      { signal },
    );
    return isOrphaned;
  }

  async function deleteLease(lease: Lease, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, namespace = "", name } = lease.metadata;
    try {
      await rest.delete(
        leases,
        { namespace, name },
        { signal, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
      );
    } catch (thrown) {
      // Its replica has renewed it.
      if (!isConflict(thrown)) throw thrown;
    }
  }
}

function isRecordedWith(replica: string, agent: ClusterAgent | undefined): boolean {
  return agent?.connected === true && (agent.replica ?? "") === replica;
}
