/**
 * Which agents this replica holds, and what the Clusters say about it. A Cluster is written only when its agent comes
 * or goes, or its orphans change; `status.agent` and `status.orphans` are this file's alone.
 *
 * The write of an agent that comes gives its stream an epoch, by compare and swap on the Cluster: of two streams of one
 * cluster, whichever replicas they are on, one has the higher epoch, and its reports are the newer ones.
 */
import { isDeepStrictEqual } from "node:util";
import { type Cluster, type ClusterAgent, maxOrphans } from "@flotilla/shared/api/cluster.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller/reconcile.ts";
import { done, type Result, requeueAfter } from "@flotilla/shared/kube/controller/reconcile.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { ClusterRef } from "../handout/report-sink.ts";
import { presenceErrors } from "./errors.ts";
import { judgePresence, type PresenceVerdict } from "./judge-presence.ts";
import { lastSeen, toTime } from "./last-seen.ts";
import { writeCluster } from "./write-cluster.ts";

export interface PresenceDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  /** The name of this replica, the same after a restart. */
  readonly replica: string;
  /** Whether others count on this replica; default: always. */
  readonly isCountedOn?: () => boolean;
  /** When the process before this one, of the same name, was last there, RFC 3339. */
  readonly keptBefore?: string;
  readonly clock: Clock;
  readonly graceMs?: number;
}

/** What an agent says of itself. */
export interface Arrival {
  readonly version: string;
  readonly namespace: string;
  /** What it holds and the hub does not know. */
  readonly orphans: readonly string[];
  /** The highest epoch that a report of it was stored with. */
  readonly reportedEpoch: number;
}

export interface Presence {
  /** A stream of the cluster has begun; `left` tells of its end. Until then one before it does not count as gone. */
  coming(cluster: ClusterRef): void;
  /**
   * Writes that the agent came; gives the epoch of its stream: above every one before, also when a restored backup has
   * set back the Cluster and not what was reported since.
   */
  arrived(cluster: ClusterRef, arrival: Arrival): Promise<number>;
  /** What the agent holds and the hub does not know is this from now on. Written by `reconcile`. */
  orphansChanged(cluster: ClusterRef, epoch: number, orphans: readonly string[]): void;
  /** The stream of that epoch has ended; 0 where its arrival was never written. Written by `reconcile`. */
  left(cluster: ClusterRef, epoch: number): void;
  /**
   * Takes no more `left`: the streams that end from now on are handed over, and their agents come back at once. What
   * they are recorded as stays until whoever answers them next writes it.
   */
  handOver(): void;
  /** For a controller that is keyed by Cluster: writes that an agent is gone, and its orphans. */
  readonly reconcile: Reconcile;
  /** Hears of every Cluster that `reconcile` has to look at; gives the function that stops it. */
  onChange(listener: (key: ObjectKey) => void): () => void;
  /** The Clusters to look at after a start: those recorded as connected. */
  recorded(): readonly ObjectKey[];
  /** A Cluster has changed: looks at it when it says of an agent that is here that it is gone. */
  clusterChanged(key: ObjectKey, cluster: Cluster | undefined): void;
}

interface OrphanList {
  readonly epoch: number;
  readonly names: readonly string[];
}

interface EndedStream {
  readonly epoch: number;
  /** Monotonic, ms. */
  readonly at: number;
}

/** Longer than agents wait at most between two tries, and long enough for thousands of them to be answered. */
const defaultGraceMs = 60_000;
/** A connection that was cut is made again within a second; whoever ended in good order is Offline within 5 s. */
const settleMs = 2_500;

export function createPresence(deps: PresenceDeps): Presence {
  const { clusters, replica, keptBefore, clock, graceMs = defaultGraceMs } = deps;
  const { isCountedOn = () => true } = deps;
  const startedAt = clock.monotonic();
  const held = new Map<ObjectKey, number>();
  const ended = new Map<ObjectKey, EndedStream>();
  /** How many streams of a cluster have begun here and have not ended. */
  const open = new Map<ObjectKey, number>();
  /** Clusters that somebody else says the agent of is gone, although it is here. */
  const disputed = new Set<ObjectKey>();
  /** Those that are not written yet. */
  const orphanLists = new Map<ObjectKey, OrphanList>();
  const listeners = new Set<(key: ObjectKey) => void>();
  let isHandedOver = false;

  async function arrived(cluster: ClusterRef, arrival: Arrival): Promise<number> {
    const key = keyOf({ namespace: cluster.namespace, name: cluster.name });
    if (!isCountedOn()) {
      const message = `replica ${replica} of the hub could not renew its Lease, so it answers no agent; another may`;
      throw new AppError(presenceErrors.REPLICA_ALONE, message);
    }
    const written = await writeCluster(deps, key, (current) => {
      if (current.metadata.uid !== cluster.uid) return undefined;
      const earlier = [
        current.status?.agent?.epoch ?? 0,
        arrival.reportedEpoch,
        held.get(key) ?? 0,
      ];
      const agent: ClusterAgent = {
        connected: true,
        lastSeen: toTime(clock.now()),
        replica,
        epoch: Math.max(...earlier) + 1,
        version: arrival.version,
        namespace: arrival.namespace,
      };
      const orphans = arrival.orphans.slice(0, maxOrphans);
      return orphans.length === 0 && current.status?.orphans === undefined
        ? { agent }
        : { agent, orphans };
    });
    const epoch = written?.status?.agent?.epoch;
    if (written?.metadata.uid !== cluster.uid || epoch === undefined) {
      const message = `Cluster ${key} was deleted or made anew while its agent connected`;
      throw new AppError(presenceErrors.CLUSTER_GONE, message);
    }
    held.set(key, epoch);
    return epoch;
  }

  function orphansChanged(cluster: ClusterRef, epoch: number, names: readonly string[]): void {
    const key = keyOf({ namespace: cluster.namespace, name: cluster.name });
    orphanLists.set(key, { epoch, names: names.slice(0, maxOrphans) });
    tell(key);
  }

  function tell(key: ObjectKey): void {
    for (const listener of listeners) listener(key);
  }

  function coming(cluster: ClusterRef): void {
    const key = keyOf({ namespace: cluster.namespace, name: cluster.name });
    open.set(key, (open.get(key) ?? 0) + 1);
  }

  function left(cluster: ClusterRef, epoch: number): void {
    const key = keyOf({ namespace: cluster.namespace, name: cluster.name });
    const others = (open.get(key) ?? 0) - 1;
    if (others > 0) open.set(key, others);
    else open.delete(key);
    if (isHandedOver) return;
    if (epoch > 0 && held.get(key) === epoch) {
      held.delete(key);
      ended.set(key, { epoch, at: clock.monotonic() });
    }
    tell(key);
  }

  const reconcile: Reconcile = async (key, { signal, log }) => {
    let verdict: PresenceVerdict = { kind: "right" };
    const list = orphanLists.get(key);
    const cluster = await writeCluster(
      deps,
      key,
      ({ status }) => {
        const agent = status?.agent;
        const end = ended.get(key);
        verdict = judgePresence({
          agent,
          heldEpoch: held.get(key),
          ended: end && { epoch: end.epoch, forMs: clock.monotonic() - end.at },
          isComing: open.has(key),
          replica,
          isCountedOn: isCountedOn(),
          upForMs: clock.monotonic() - startedAt,
          graceMs,
          settleMs,
        });
        // Of the present stream, or of the last that there was.
        const orphans = list?.epoch === agent?.epoch ? list?.names : undefined;
        const isNews = orphans !== undefined && !isDeepStrictEqual(orphans, status?.orphans ?? []);
        const next = agent && agentAfter(verdict, agent, end);
        if (next === undefined && !isNews) return undefined;
        return { ...(isNews && { orphans }), ...(next && { agent: next }) };
      },
      { signal, fromServer: disputed.has(key) },
    );
    if (orphanLists.get(key) === list) orphanLists.delete(key);
    if (cluster === undefined) ended.delete(key);
    const outcome = outcomeOf(verdict, (what) => log.info({ cluster: key }, what));
    if (outcome.kind === "done") disputed.delete(key);
    return outcome;
  };

  /** What the Cluster is to say; `undefined`: what it says. */
  function agentAfter(
    { kind }: PresenceVerdict,
    agent: ClusterAgent,
    end: EndedStream | undefined,
  ): ClusterAgent | undefined {
    switch (kind) {
      case "gone": {
        // What an earlier process held was there as long as that was.
        const time =
          end !== undefined && end.epoch === agent.epoch
            ? toTime(clock.now() - (clock.monotonic() - end.at))
            : (keptBefore ?? toTime(clock.now()));
        return { ...agent, connected: false, lastSeen: lastSeen(agent, time) };
      }
      case "there":
        return { ...agent, connected: true };
      default:
        return undefined;
    }
  }

  return {
    coming,
    arrived,
    orphansChanged,
    left,
    handOver() {
      isHandedOver = true;
    },
    reconcile,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    recorded: () =>
      clusters
        .list()
        .filter(({ status }) => status?.agent?.connected === true)
        .map(keyOf),
    clusterChanged(key, cluster) {
      if (cluster === undefined) ended.delete(key);
      else if (held.has(key) && cluster.status?.agent?.connected === false) {
        disputed.add(key);
        tell(key);
      }
    },
  };
}

function outcomeOf(verdict: PresenceVerdict, tell: (what: string) => void): Result {
  if (verdict.kind === "wait") return requeueAfter(verdict.ms, "the agent may come back");
  if (verdict.kind === "gone") tell("agent is gone");
  if (verdict.kind === "there") tell("agent is here, and was taken for gone");
  return done();
}
