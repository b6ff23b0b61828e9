/**
 * The Schedules of the fleet as a function of time: which of them are for a cluster, and whether it may be changed. It decides from
 * the stores and the time alone, so a restart, an edit, a cluster that joins and another leader end no window. What it keeps are
 * results for objects that never change, and may be dropped.
 */
import type { Cluster, ClusterGroup, Schedule } from "@flotilla/shared/api";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { type Window, type WindowState, windowAt } from "@flotilla/shared/quartz";
import { toTargetCluster } from "../targeting/match.ts";
import { coversCluster, type JudgedSchedule, judgeSchedule } from "./judged-schedule.ts";

/** What the Schedules of a cluster say at a time. */
export interface Coverage {
  /** Whether a Schedule is for the cluster. */
  readonly isScheduled: boolean;
  /** Whether one of them is active: several are a union. */
  readonly isActive: boolean;
  /** When that may change, ms since 1970; absent: not before somebody edits one. */
  readonly changesAtMs?: number;
  /** What is wrong with invalid ones that are for it, by name. */
  readonly invalid: readonly { readonly name: string; readonly problem: string }[];
}

export interface Schedules {
  /** Times are ms since 1970. */
  coverageOf(cluster: Cluster, atMs: number): Coverage;
  judge(schedule: Schedule): JudgedSchedule;
  /** Undefined where the Schedule is invalid: it is never active. */
  stateOf(schedule: Schedule, atMs: number): WindowState | undefined;
  isFor(schedule: Schedule, cluster: Cluster): boolean;
  /** The windows of the Schedules that are for a cluster; none for invalid ones. A spec has always the same one. */
  windowsOf(cluster: Cluster): readonly Window[];
}

export interface SchedulesDeps {
  readonly schedules: Pick<Store<Schedule>, "byIndex">;
  readonly groups: Pick<Store<ClusterGroup>, "byIndex">;
}

const uncovered: Coverage = { isScheduled: false, isActive: false, invalid: [] };

/** The state of a window from one time until it changes. */
interface KnownState {
  readonly fromMs: number;
  readonly state: WindowState;
}

export function createSchedules({ schedules, groups }: SchedulesDeps): Schedules {
  // Objects of a store are replaced, never changed: the spec itself is a key.
  const judged = new WeakMap<Schedule["spec"], JudgedSchedule>();
  const states = new WeakMap<Schedule["spec"], KnownState>();

  function judge(schedule: Schedule): JudgedSchedule {
    const known = judged.get(schedule.spec);
    if (known !== undefined) return known;
    const fresh = judgeSchedule(schedule);
    judged.set(schedule.spec, fresh);
    return fresh;
  }

  function stateOf(schedule: Schedule, atMs: number): WindowState | undefined {
    const { window } = judge(schedule);
    if (window === undefined) return undefined;
    const known = states.get(schedule.spec);
    if (known !== undefined && holdsAt(known, atMs)) return known.state;
    const state = windowAt(window, atMs);
    states.set(schedule.spec, { fromMs: atMs, state });
    return state;
  }

  function isFor(schedule: Schedule, cluster: Cluster): boolean {
    const { namespace = "" } = cluster.metadata;
    return coversCluster(schedule, toTargetCluster(cluster), () =>
      groups.byIndex(byNamespace, namespace),
    );
  }

  function schedulesOf(cluster: Cluster): readonly Schedule[] {
    const { namespace = "" } = cluster.metadata;
    return schedules
      .byIndex(byNamespace, namespace)
      .filter((schedule) => isFor(schedule, cluster))
      .sort(byName);
  }

  return {
    judge,
    stateOf,
    isFor,
    windowsOf: (cluster) => schedulesOf(cluster).flatMap((each) => judge(each).window ?? []),
    coverageOf(cluster, atMs) {
      const own = schedulesOf(cluster);
      if (own.length === 0) return uncovered;
      const windows = own.flatMap((schedule) => stateOf(schedule, atMs) ?? []);
      const changes = windows.flatMap(({ changesAtMs }) => changesAtMs ?? []);
      return {
        isScheduled: true,
        isActive: windows.some(({ isOpen }) => isOpen),
        ...(changes.length > 0 && { changesAtMs: Math.min(...changes) }),
        invalid: own.flatMap((schedule) => {
          const { problem } = judge(schedule);
          return problem === undefined ? [] : [{ name: schedule.metadata.name, problem }];
        }),
      };
    },
  };
}

/** Whether a cluster is closed: it has Schedules, and none of them is active. */
export function isClosed({ isScheduled, isActive }: Coverage): boolean {
  return isScheduled && !isActive;
}

function byName({ metadata: a }: Schedule, { metadata: b }: Schedule): number {
  return a.name < b.name ? -1 : 1;
}

function holdsAt({ fromMs, state }: KnownState, atMs: number): boolean {
  return atMs >= fromMs && atMs < (state.changesAtMs ?? Number.POSITIVE_INFINITY);
}
