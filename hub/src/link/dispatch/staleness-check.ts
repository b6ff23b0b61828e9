/**
 * Guards the writes of reports against a stale cache: checks whether an agent has a newer stream than the one of a
 * report. An agent without a response for 5 s may connect to another replica, and its reports there need not change
 * anything, so no write conflict would show it. A replica observes the new stream on its watch within milliseconds,
 * unless it was frozen or disconnected from the API server. So after such a gap, and after a write without a response,
 * the Clusters are listed again before another report is written.
 */
import { type Cluster, clusters as clusterResource } from "@flotilla/shared/api";
import { messageOf } from "@flotilla/shared/errors";
import { dropBulk, type Store } from "@flotilla/shared/kube/cache";
import { type KubeRest, listAll } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, delay, type Timer } from "@flotilla/shared/time";

export interface StalenessCheck {
  /** Whether a cluster has a newer stream than the one with this epoch. */
  isSuperseded(cluster: ObjectKey, epoch: number): boolean;
  /** `true` while the cache is trusted; else resolves once the Clusters were listed again. */
  confirmed(): true | Promise<void>;
  /** The API server was not reached: the cache may be stale. */
  invalidate(): void;
  /** Detects gaps until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface StalenessCheckDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly clock: Clock;
  readonly log: Log;
}

interface ListedCluster {
  readonly uid: string | undefined;
  readonly epoch: number;
}

const tickMs = 1_000;
/** Less than an agent waits for a replica that does not answer. */
export const longestGapMs = 4_000;
const retryMs = 1_000;

export function createStalenessCheck(deps: StalenessCheckDeps): StalenessCheck {
  const { rest, clusters, clock, log } = deps;
  /** From the last list, for as long as the cache is behind it. */
  const listed = new Map<ObjectKey, ListedCluster>();
  let tickAt = clock.monotonic();
  let invalidations = 0;
  let isTrusted = true;
  let listing: Promise<void> | undefined;
  const ending = new AbortController();

  /** Detects a gap that has just ended. */
  function detectGap(): void {
    const gapMs = clock.monotonic() - tickAt;
    if (gapMs <= longestGapMs) return;
    tickAt = clock.monotonic();
    invalidate();
    log.warn({ gapMs: Math.round(gapMs) }, "process was frozen; listing clusters again");
  }

  /** Where the cache has caught up it decides alone: epochs may go back when the hub is restored from a backup. */
  function dropCaughtUp(): void {
    for (const [key, { uid, epoch }] of listed) {
      const cluster = clusters.get(key);
      if (cluster?.metadata.uid === uid && epochOf(cluster) >= epoch) listed.delete(key);
    }
  }

  function invalidate(): void {
    invalidations += 1;
    isTrusted = false;
  }

  function confirmed(): true | Promise<void> {
    detectGap();
    if (isTrusted) return true;
    listing ??= listUntilTrusted().finally(() => {
      listing = undefined;
    });
    return listing;
  }

  async function listUntilTrusted(): Promise<void> {
    const isOver = (): boolean => ending.signal.aborted;
    for (let attempt = 1; !isOver(); attempt += 1) {
      const before = invalidations;
      try {
        const { objects } = await listAll({
          rest,
          resource: clusterResource,
          selection: {},
          transform: dropBulk,
          signal: ending.signal,
        });
        detectGap();
        // Invalidated again during the list, which may be stale itself.
        if (invalidations !== before) continue;
        isTrusted = true;
        listed.clear();
        for (const cluster of objects)
          listed.set(keyOf(cluster), { uid: cluster.metadata.uid, epoch: epochOf(cluster) });
        dropCaughtUp();
        return;
      } catch (thrown) {
        if (isOver()) return;
        const level = attempt === 1 ? "warn" : "debug";
        log[level]({ err: messageOf(thrown), retryMs }, "cannot list clusters; retrying");
        await delay(clock, retryMs, ending.signal);
      }
    }
  }

  return {
    isSuperseded(key, epoch) {
      const cluster = clusters.get(key);
      const last = listed.get(key);
      // A Cluster that was created again under the same name counts its epochs from the start.
      const isSame = cluster === undefined || last?.uid === cluster.metadata.uid;
      return Math.max(isSame ? (last?.epoch ?? 0) : 0, epochOf(cluster)) > epoch;
    },
    confirmed,
    invalidate,
    async run(signal) {
      let timer: Timer;
      function tick(): void {
        void confirmed();
        dropCaughtUp();
        tickAt = clock.monotonic();
        timer = clock.setTimeout(tick, tickMs);
      }
      timer = clock.setTimeout(tick, tickMs);
      tickAt = clock.monotonic();
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      timer.cancel();
      ending.abort();
      await listing;
    },
  };
}

function epochOf(cluster: Cluster | undefined): number {
  return cluster?.status?.agent?.epoch ?? 0;
}
