/**
 * Whether what an agent said on a stream is still the newest that is known of it.
 *
 * An agent that hears nothing for 5 s gives its replica up and may go to another, and what it says there need not change
 * anything, so that no write would tell. A replica sees that by its watch within milliseconds, unless it was frozen: then
 * it wakes with reports that it has not written and a cache from before. So after a gap it asks the API server which
 * agents are still its own before it writes another word of them.
 */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusters as clusterResource } from "@flotilla/shared/api/resources.ts";
import type { Clock, Timer } from "@flotilla/shared/clock/clock.ts";
import { delay } from "@flotilla/shared/clock/delay.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import { listAll } from "@flotilla/shared/kube/list-all.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import { dropBulk } from "@flotilla/shared/kube/transform.ts";
import type { Log } from "@flotilla/shared/log/log.ts";

export interface Currency {
  /** Whether a newer stream of a cluster is known than the one with this epoch. */
  isOvertaken(cluster: ObjectKey, epoch: number): boolean;
  /** `true` while this process has run without a gap; else resolves once it knows again whose agents are its own. */
  fresh(): true | Promise<void>;
  /** Looks for gaps until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface CurrencyDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  readonly clock: Clock;
  readonly log: Log;
}

const beatMs = 1_000;
/** Less than an agent takes to give a replica up that does not answer. */
export const longestGapMs = 4_000;
const retryMs = 1_000;

export function createCurrency({ rest, clusters, clock, log }: CurrencyDeps): Currency {
  /** Epochs that the API server told after a gap, where the cache was behind. */
  let told: ReadonlyMap<ObjectKey, number> = new Map();
  let beatAt = clock.monotonic();
  let gaps = 0;
  let looking: Promise<void> | undefined;
  const ending = new AbortController();

  /** Counts a gap that has just ended. */
  function noticeGap(): void {
    const gapMs = clock.monotonic() - beatAt;
    if (gapMs <= longestGapMs) return;
    beatAt = clock.monotonic();
    gaps += 1;
    log.warn({ gapMs: Math.round(gapMs) }, "process stood still, and looks which agents it has");
  }

  function fresh(): true | Promise<void> {
    const before = gaps;
    noticeGap();
    if (gaps !== before)
      looking ??= lookUntilKnown().finally(() => {
        looking = undefined;
      });
    return looking ?? true;
  }

  async function lookUntilKnown(): Promise<void> {
    const isOver = (): boolean => ending.signal.aborted;
    while (!isOver()) {
      const before = gaps;
      try {
        const { objects } = await listAll({
          rest,
          resource: clusterResource,
          selection: {},
          transform: dropBulk,
          signal: ending.signal,
        });
        noticeGap();
        // It stood still once more while it was told: that is old again.
        if (gaps !== before) continue;
        told = new Map(objects.map((cluster) => [keyOf(cluster), epochOf(cluster)]));
        return;
      } catch (thrown) {
        if (isOver()) return;
        log.warn({ err: messageOf(thrown), retryMs }, "clusters could not be listed");
        await delay(clock, retryMs, ending.signal);
      }
    }
  }

  return {
    isOvertaken: (cluster, epoch) =>
      Math.max(told.get(cluster) ?? 0, epochOf(clusters.get(cluster))) > epoch,
    fresh,
    async run(signal) {
      let timer: Timer;
      function beat(): void {
        void fresh();
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
