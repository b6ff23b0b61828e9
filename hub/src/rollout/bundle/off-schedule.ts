/**
 * The clusters of one rollout that no window permits to change, at one time: which they are, when that changes, and the sentence
 * for the author of the Bundle.
 */
import type { Cluster } from "@flotilla/shared/api";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import { formatTime } from "@flotilla/shared/time";
import { type Coverage, isClosed, type Schedules } from "../../rules/index.ts";

export interface OffSchedule {
  /** Whether the cluster has Schedules and none of them is active. */
  isOff(cluster: Cluster): boolean;
  /** Looks clusters up beforehand, with pauses: there may be thousands, and Schedules with as many entries. */
  lookUp(clusters: readonly Cluster[]): Promise<void>;
  /** When the answer for one of the clusters that were asked for may be another one, ms since 1970. */
  changesAtMs(): number | undefined;
  /** For clusters that were asked for; "" for none. */
  remark(waiting: readonly ObjectKey[]): string;
}

/** Timers follow a clock that does not jump when the time is corrected. */
const longestWaitMs = 3_600_000;

/** When to look again: at a time, or an hour from now, whatever comes first; undefined: time changes nothing. */
export function wakesBy(atMs: number | undefined, nowMs: number): number | undefined {
  return atMs === undefined ? undefined : Math.min(atMs, nowMs + longestWaitMs);
}

/** All answers are for the same time, and each cluster is looked up once. */
export function offScheduleAt(rules: Pick<Schedules, "coverageOf">, nowMs: number): OffSchedule {
  const known = new Map<ObjectKey, Coverage>();

  function coverageOf(cluster: Cluster): Coverage {
    const key = keyOf(cluster);
    const coverage = known.get(key) ?? rules.coverageOf(cluster, nowMs);
    known.set(key, coverage);
    return coverage;
  }

  return {
    isOff: (cluster) => isClosed(coverageOf(cluster)),
    async lookUp(clusters) {
      const slices = createTimeSlices();
      for (const cluster of clusters) {
        coverageOf(cluster);
        if (slices.isOver) await slices.pause();
      }
    },
    changesAtMs() {
      return wakesBy(earliest([...known.values()]), nowMs);
    },
    remark(waiting) {
      if (waiting.length === 0) return "";
      const names = listNames(waiting.map((key) => refOf(key).name).sort());
      const opensAtMs = earliest(waiting.flatMap((key) => known.get(key) ?? []));
      const when =
        opensAtMs === undefined
          ? "none of their Schedules starts any more"
          : `the next window opens at ${formatTime(opensAtMs)}`;
      return `outside of the windows of their Schedules, so not changed: ${names}; ${when}`;
    },
  };
}

function earliest(coverages: readonly Coverage[]): number | undefined {
  return coverages.reduce<number | undefined>(
    (first, { changesAtMs: next }) =>
      next !== undefined && next < (first ?? next + 1) ? next : first,
    undefined,
  );
}
