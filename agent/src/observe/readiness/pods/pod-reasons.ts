/**
 * Why workloads are not ready, by their pods. Pods are read only while a workload is not ready, and then ever less often until
 * something changes: a cluster whose releases are ready has no cost, and one in which many are not has a limited one.
 */
import { backoffDelayMs, createSemaphore, createTokenBucket } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import { isForbidden } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import { type Clock, delay, type Timer } from "@flotilla/shared/time";
import type { WatchClient } from "../../../base/index.ts";
import { readPods } from "./read-pods.ts";
import type { Workload } from "./workload.ts";
import { type WorkloadReason, workloadReason } from "./workload-reason.ts";

export interface PodReasonsDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Called with a release when the reason of one of its workloads has changed. */
  readonly onChange: (release: string) => void;
}

/** Most rollouts are complete before that. */
const firstReadMs = 3_000;
/** Between reads, while nothing changes. */
const readBackoff = { firstMs: 5_000, longestMs: 60_000 };
/** For the requests of all workloads together. */
const requestLimits = { perSecond: 5, burst: 10 };
const maxReads = 4;

interface Followed {
  workload: Workload;
  client: WatchClient;
  reason: WorkloadReason | undefined;
  /** Reads in a row without a change. */
  unchanged: number;
  timer: Timer | undefined;
  /** When the timer ends, in monotonic ms. */
  dueAt: number;
  readonly dropped: AbortController;
}

export type PodReasons = ReturnType<typeof createPodReasons>;

export function createPodReasons({ clock, log, onChange }: PodReasonsDeps) {
  const releases = new Map<string, Map<string, Followed>>();
  const bucket = createTokenBucket({ ...requestLimits, clock });
  const reads = createSemaphore(maxReads);
  const tasks = new Set<Promise<void>>();

  function schedule(release: string, followed: Followed, delayMs: number): void {
    followed.timer?.cancel();
    followed.dueAt = clock.monotonic() + delayMs;
    followed.timer = clock.setTimeout(() => {
      followed.timer = undefined;
      const task = reads.run(() => read(release, followed)).finally(() => tasks.delete(task));
      tasks.add(task);
    }, delayMs);
  }

  async function read(release: string, followed: Followed): Promise<void> {
    const { signal } = followed.dropped;
    const before = followed.reason;
    const reason = await currentReason(followed);
    if (signal.aborted) return;
    followed.reason = reason;
    const isSame = reason?.message === before?.message;
    followed.unchanged = isSame ? followed.unchanged + 1 : 0;
    schedule(release, followed, backoffDelayMs(readBackoff, followed.unchanged + 1));
    if (!isSame) onChange(release);
  }

  /** A failed read keeps the last one. */
  async function currentReason(followed: Followed): Promise<WorkloadReason | undefined> {
    const { workload, client, dropped } = followed;
    const { signal } = dropped;
    async function beforeRequest(): Promise<void> {
      const waitMs = bucket.reserve();
      if (waitMs > 0) await delay(clock, waitMs, signal);
    }
    try {
      const pods = await readPods(client.rest, workload, { signal, beforeRequest });
      return workloadReason(workload, pods);
    } catch (thrown) {
      if (isForbidden(thrown))
        return { message: `${client.subject} may not list its pods`, isFailed: false };
      if (!signal.aborted)
        log.debug({ workload: workload.name, err: messageOf(thrown) }, "could not read the pods");
      return followed.reason;
    }
  }

  function drop(followed: Followed): void {
    followed.timer?.cancel();
    followed.dropped.abort();
  }

  return {
    /** Replaces the workloads of a release that are not ready. Their pods are read with this client. */
    follow(release: string, workloads: readonly Workload[], client: WatchClient): void {
      const before = releases.get(release) ?? new Map<string, Followed>();
      const now = new Map<string, Followed>();
      for (const workload of workloads) {
        const key = keyOf(workload);
        const known = before.get(key);
        before.delete(key);
        if (known === undefined) {
          const followed = newFollowed(workload, client);
          now.set(key, followed);
          schedule(release, followed, firstReadMs);
          continue;
        }
        now.set(key, known);
        const hasChanged = known.workload.message !== workload.message;
        known.workload = workload;
        known.client = client;
        if (!hasChanged) continue;
        known.unchanged = 0;
        const { firstMs } = readBackoff;
        if (known.timer !== undefined && known.dueAt > clock.monotonic() + firstMs)
          schedule(release, known, firstMs);
      }
      for (const followed of before.values()) drop(followed);
      if (now.size > 0) releases.set(release, now);
      else releases.delete(release);
    },
    /** Undefined before the first read, and if its pods have none. */
    reasonOf: (release: string, workload: Workload): WorkloadReason | undefined =>
      releases.get(release)?.get(keyOf(workload))?.reason,
    /** Ends all reads; resolves when they have ended. */
    async end(): Promise<void> {
      for (const workloads of releases.values()) for (const each of workloads.values()) drop(each);
      releases.clear();
      await Promise.all(tasks);
    },
  };
}

function newFollowed(workload: Workload, client: WatchClient): Followed {
  return {
    workload,
    client,
    reason: undefined,
    unchanged: 0,
    timer: undefined,
    dueAt: 0,
    dropped: new AbortController(),
  };
}

function keyOf({ kind, namespace, name, uid = "" }: Workload): string {
  return `${kind} ${namespace}/${name} ${uid}`;
}
