/**
 * Whether what an agent said on a stream is still the newest that is known of it.
 *
 * An agent that hears nothing for 5 s gives its replica up and may go to another, and what it says there need not change
 * anything, so that no write would tell. A replica sees that by its watch within milliseconds, unless it was frozen, or cut
 * off from its API server: then it has reports that it has not written and a cache from before. So after a gap, and after
 * a write that was not answered, it asks the API server which agents are still its own before it writes another word of
 * them.
 */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import { dropBulk } from "@flotilla/shared/kube/cache/informer.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import { listAll } from "@flotilla/shared/kube/client/list-all.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";
import { delay } from "@flotilla/shared/time/clock.ts";

export interface Currency {
  /** Whether a newer stream of a cluster is known than the one with this epoch. */
  isOvertaken(cluster: ObjectKey, epoch: number): boolean;
  /** `true` while nothing speaks against the cache; else resolves once it is known again whose agents are its own. */
  fresh(): true | Promise<void>;
  /** The API server was not reached: the cache may be behind. */
  doubt(): void;
  /** Looks for gaps until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface CurrencyDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Told {
  readonly uid: string | undefined;
  readonly epoch: number;
}

const beatMs = 1_000;
/** Less than an agent takes to give a replica up that does not answer. */
export const longestGapMs = 4_000;
const retryMs = 1_000;

export function createCurrency({ rest, clusters, clock, log }: CurrencyDeps): Currency {
  /** What the API server told after a gap, for as long as the cache is behind it. */
  const told = new Map<ObjectKey, Told>();
  let beatAt = clock.monotonic();
  /** How often the cache came to be in doubt. */
  let doubts = 0;
  let isKnown = true;
  let looking: Promise<void> | undefined;
  const ending = new AbortController();

  /** Notices a gap that has just ended. */
  function noticeGap(): void {
    const gapMs = clock.monotonic() - beatAt;
    if (gapMs <= longestGapMs) return;
    beatAt = clock.monotonic();
    doubt();
    log.warn({ gapMs: Math.round(gapMs) }, "process stood still, and looks which agents it has");
  }

  /** What the cache knows by now is its to say: it may go back where the hub is restored from a backup. */
  function forgetKnown(): void {
    for (const [key, { uid, epoch }] of told) {
      const cluster = clusters.get(key);
      if (cluster?.metadata.uid === uid && epochOf(cluster) >= epoch) told.delete(key);
    }
  }

  function doubt(): void {
    doubts += 1;
    isKnown = false;
  }

  function fresh(): true | Promise<void> {
    noticeGap();
    if (isKnown) return true;
    looking ??= lookUntilKnown().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function lookUntilKnown(): Promise<void> {
    const isOver = (): boolean => ending.signal.aborted;
    for (let attempt = 1; !isOver(); attempt += 1) {
      const before = doubts;
      try {
        const { objects } = await listAll({
          rest,
          resource: clusterResource,
          selection: {},
          transform: dropBulk,
          signal: ending.signal,
        });
        noticeGap();
        // What it was told may be old again.
        if (doubts !== before) continue;
        isKnown = true;
        told.clear();
        for (const cluster of objects)
          told.set(keyOf(cluster), { uid: cluster.metadata.uid, epoch: epochOf(cluster) });
        forgetKnown();
        return;
      } catch (thrown) {
        if (isOver()) return;
        const level = attempt === 1 ? "warn" : "debug";
        log[level]({ err: messageOf(thrown), retryMs }, "clusters could not be listed");
        await delay(clock, retryMs, ending.signal);
      }
    }
  }

  return {
    isOvertaken(key, epoch) {
      const cluster = clusters.get(key);
      const then = told.get(key);
      // Of one that was deleted and made anew, the epochs begin anew.
      const isSame = cluster === undefined || then?.uid === cluster.metadata.uid;
      return Math.max(isSame ? (then?.epoch ?? 0) : 0, epochOf(cluster)) > epoch;
    },
    fresh,
    doubt,
    async run(signal) {
      let timer: Timer;
      function beat(): void {
        void fresh();
        forgetKnown();
        beatAt = clock.monotonic();
        timer = clock.setTimeout(beat, beatMs);
      }
      timer = clock.setTimeout(beat, beatMs);
      beatAt = clock.monotonic();
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      timer.cancel();
      ending.abort();
      await looking;
    },
  };
}

function epochOf(cluster: Cluster | undefined): number {
  return cluster?.status?.agent?.epoch ?? 0;
}
