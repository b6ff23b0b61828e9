/**
 * Which agents this replica holds, and what the Clusters say about it. A Cluster is written only when its agent comes
 * or goes, or its orphans change; `status.agent` and `status.orphans` are this file's alone.
 *
 * The write of an agent that comes gives its stream an epoch, by compare and swap on the Cluster: of two streams of one
 * cluster, whichever replicas they are on, one has the higher epoch, and its reports are the newer ones.
 */
import { isDeepStrictEqual } from "node:util";
import { type Cluster, type ClusterAgent, maxOrphans } from "@flotilla/shared/api/cluster.ts";
import { clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller.ts";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/object.ts";
import { done, type Outcome, requeueAfter } from "@flotilla/shared/kube/outcome.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { isConflict } from "@flotilla/shared/kube/status-error.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import type { ClusterRef } from "../handout/report-sink.ts";
import { presenceErrors } from "./errors.ts";
import { judgePresence, type PresenceVerdict } from "./judge-presence.ts";

export interface PresenceDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  /** The name of this replica, the same after a restart. */
  readonly replica: string;
  /** Whether the agents of another replica are to be looked after; default: never. */
  readonly isGone?: (replica: string) => boolean;
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
  /**
   * Writes that the agent came; gives the epoch of its stream: above every one before, also when a restored backup has
   * set back the Cluster and not what was reported since.
   */
  arrived(cluster: ClusterRef, arrival: Arrival): Promise<number>;
  /** What the agent holds and the hub does not know is this from now on. Written by `reconcile`. */
  orphansChanged(cluster: ClusterRef, epoch: number, orphans: readonly string[]): void;
  /** The stream of that epoch has ended. Written by `reconcile`. */
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
}

interface OrphanList {
  readonly epoch: number;
  readonly names: readonly string[];
}

const defaultGraceMs = 30_000;
/** The roll-up writes the same status; each of its writes may cost one of ours. */
const attempts = 20;

export function createPresence(deps: PresenceDeps): Presence {
  const { rest, clusters, replica, isGone = () => false, clock, graceMs = defaultGraceMs } = deps;
  const startedAt = clock.monotonic();
  const held = new Map<ObjectKey, number>();
  const ended = new Map<ObjectKey, number>();
  /** Those that are not written yet. */
  const orphanLists = new Map<ObjectKey, OrphanList>();
  const listeners = new Set<(key: ObjectKey) => void>();
  let isHandedOver = false;

  /** Writes `status.agent` as `change` says, from the newest that there is; `undefined` changes nothing. */
  async function write(
    key: ObjectKey,
    change: (
      cluster: Cluster,
    ) => Partial<Pick<NonNullable<Cluster["status"]>, "agent" | "orphans">> | undefined,
    signal?: AbortSignal,
  ): Promise<Cluster | undefined> {
    let cluster = clusters.get(key);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      cluster ??= await rest.get(clusterResource, refOf(key), signal && { signal });
      if (cluster === undefined) return undefined;
      const changed = change(cluster);
      if (changed === undefined) return cluster;
      try {
        const written = await rest.replace(
          clusterResource,
          { ...cluster, status: { ...cluster.status, ...changed } },
          { subresource: "status", ...(signal && { signal }) },
        );
        clusters.wrote(written);
        return written;
      } catch (thrown) {
        if (!isConflict(thrown)) throw thrown;
        cluster = undefined;
      }
    }
    const message = `the status of Cluster ${key} was changed by others ${attempts} times while it was being written`;
    throw new AppError(presenceErrors.CLUSTER_BUSY, message);
  }

  async function arrived(cluster: ClusterRef, arrival: Arrival): Promise<number> {
    const key = keyOf({ namespace: cluster.namespace, name: cluster.name });
    const written = await write(key, (current) => {
      if (current.metadata.uid !== cluster.uid) return undefined;
      const earlier = [
        current.status?.agent?.epoch ?? 0,
        arrival.reportedEpoch,
        held.get(key) ?? 0,
      ];
      const agent: ClusterAgent = {
        connected: true,
        lastSeen: now(),
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

  function left(cluster: ClusterRef, epoch: number): void {
    const key = keyOf({ namespace: cluster.namespace, name: cluster.name });
    if (isHandedOver || held.get(key) !== epoch) return;
    held.delete(key);
    ended.set(key, epoch);
    tell(key);
  }

  const reconcile: Reconcile = async (key, { signal, log }) => {
    let verdict: PresenceVerdict = { kind: "right" };
    const list = orphanLists.get(key);
    const cluster = await write(
      key,
      ({ status }) => {
        const agent = status?.agent;
        verdict = judgePresence({
          agent,
          heldEpoch: held.get(key),
          endedEpoch: ended.get(key),
          replica,
          isGone,
          upForMs: clock.monotonic() - startedAt,
          graceMs,
        });
        // Of the present stream, or of the last that there was.
        const orphans = list?.epoch === agent?.epoch ? list?.names : undefined;
        const isNews = orphans !== undefined && !isDeepStrictEqual(orphans, status?.orphans ?? []);
        if (verdict.kind !== "gone" && !isNews) return undefined;
        return {
          ...(isNews && { orphans }),
          ...(verdict.kind === "gone" && {
            agent: { ...agent, connected: false, lastSeen: now() },
          }),
        };
      },
      signal,
    );
    if (orphanLists.get(key) === list) orphanLists.delete(key);
    if (cluster === undefined) ended.delete(key);
    return outcomeOf(verdict, () => log.info({ cluster: key }, "agent is gone"));
  };

  function now(): string {
    return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  return {
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
  };
}

function outcomeOf(verdict: PresenceVerdict, onGone: () => void): Outcome {
  if (verdict.kind === "wait") return requeueAfter(verdict.ms, "the agent may come back");
  if (verdict.kind === "gone") onGone();
  return done();
}
