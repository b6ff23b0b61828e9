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

export class StalenessCheck {
  readonly #deps: StalenessCheckDeps;
  /** From the last list, for as long as the cache is behind it. */
  readonly #listed = new Map<ObjectKey, ListedCluster>();
  readonly #ending = new AbortController();
  #tickAt: number;
  #invalidations = 0;
  #isTrusted = true;
  #listing: Promise<void> | undefined;

  constructor(deps: StalenessCheckDeps) {
    this.#deps = deps;
    this.#tickAt = deps.clock.monotonic();
  }

  /** Whether a cluster has a newer stream than the one with this epoch. */
  isSuperseded(key: ObjectKey, epoch: number): boolean {
    const cluster = this.#deps.clusters.get(key);
    const last = this.#listed.get(key);
    // A Cluster that was created again under the same name counts its epochs from the start.
    const isSame = cluster === undefined || last?.uid === cluster.metadata.uid;
    return Math.max(isSame ? (last?.epoch ?? 0) : 0, epochOf(cluster)) > epoch;
  }

  /** `true` while the cache is trusted; else resolves once the Clusters were listed again. */
  confirmed(): true | Promise<void> {
    this.#detectGap();
    if (this.#isTrusted) return true;
    this.#listing ??= this.#listUntilTrusted().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  /** The API server was not reached: the cache may be stale. */
  invalidate(): void {
    this.#invalidations += 1;
    this.#isTrusted = false;
  }

  /** Detects gaps until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const tick = (): void => {
      void this.confirmed();
      this.#dropCaughtUp();
      this.#tickAt = clock.monotonic();
      timer = clock.setTimeout(tick, tickMs);
    };
    let timer: Timer = clock.setTimeout(tick, tickMs);
    this.#tickAt = clock.monotonic();
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    timer.cancel();
    this.#ending.abort();
    await this.#listing;
  }

  /** Detects a gap that has just ended. */
  #detectGap(): void {
    const { clock, log } = this.#deps;
    const gapMs = clock.monotonic() - this.#tickAt;
    if (gapMs <= longestGapMs) return;
    this.#tickAt = clock.monotonic();
    this.invalidate();
    log.warn({ gapMs: Math.round(gapMs) }, "process was frozen; listing clusters again");
  }

  /** Where the cache has caught up it decides alone: epochs may go back when the hub is restored from a backup. */
  #dropCaughtUp(): void {
    for (const [key, { uid, epoch }] of this.#listed) {
      const cluster = this.#deps.clusters.get(key);
      if (cluster?.metadata.uid === uid && epochOf(cluster) >= epoch) this.#listed.delete(key);
    }
  }

  async #listUntilTrusted(): Promise<void> {
    const { rest, clock, log } = this.#deps;
    const { signal } = this.#ending;
    const isOver = (): boolean => signal.aborted;
    for (let attempt = 1; !isOver(); attempt += 1) {
      const before = this.#invalidations;
      try {
        const { objects } = await listAll({
          rest,
          resource: clusterResource,
          selection: {},
          transform: dropBulk,
          signal,
        });
        this.#detectGap();
        // Invalidated again during the list, which may be stale itself.
        if (this.#invalidations !== before) continue;
        this.#trust(objects);
        return;
      } catch (thrown) {
        if (isOver()) return;
        const level = attempt === 1 ? "warn" : "debug";
        log[level]({ err: messageOf(thrown), retryMs }, "cannot list clusters; retrying");
        await delay(clock, retryMs, signal);
      }
    }
  }

  #trust(listed: readonly Cluster[]): void {
    this.#isTrusted = true;
    this.#listed.clear();
    for (const cluster of listed)
      this.#listed.set(keyOf(cluster), { uid: cluster.metadata.uid, epoch: epochOf(cluster) });
    this.#dropCaughtUp();
  }
}

function epochOf(cluster: Cluster | undefined): number {
  return cluster?.status?.agent?.epoch ?? 0;
}
