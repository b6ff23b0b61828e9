/**
 * A Schedule at a time: its status, and the Clusters whose status is another one by now. Nothing is remembered between two
 * reconciles; the next one is when a window opens or closes.
 */
import {
  type Cluster,
  type ClusterStatus,
  type Schedule,
  type ScheduleStatus,
  schedules as scheduleResource,
} from "@flotilla/shared/api";
import { fleetScheduleFinalizer } from "@flotilla/shared/api/names";
import { createTimeSlices, type TimeSlices } from "@flotilla/shared/concurrency";
import { findCondition } from "@flotilla/shared/conditions";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  done,
  type Reconcile,
  type Result,
  removeFinalizer,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import { keyOf, refOf } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import type { Publisher } from "../../base/index.ts";
import type { Schedules } from "../../rules/index.ts";
import { isOtherCoverage, scheduleInvalid } from "../cluster/scheduled.ts";
import { scheduleStatus } from "./status.ts";

export interface ScheduleDeps {
  readonly rest: KubeRest;
  readonly schedules: Store<Schedule>;
  readonly clusters: Store<Cluster>;
  /** The rules. */
  readonly rules: Schedules;
  readonly statuses: Pick<Publisher<ScheduleStatus, Schedule>, "current" | "publish">;
  readonly clusterStatuses: Pick<Publisher<ClusterStatus, Cluster>, "refresh">;
  readonly clock: Pick<Clock, "now">;
  readonly createSlices?: () => TimeSlices;
}

/** Timers follow a clock that does not jump when the time is corrected. */
const longestWaitMs = 3_600_000;

export function scheduleReconciler(deps: ScheduleDeps): Reconcile {
  const { rest, rules, statuses, clock, createSlices = createTimeSlices } = deps;

  return async function reconcile(key, { signal }) {
    const found = deps.schedules.get(key);
    const isDeleted = found?.metadata.deletionTimestamp !== undefined;
    if (found === undefined) return done();
    if (isDeleted) {
      // Fleet set it. Nothing of ours depends on a Schedule that is gone.
      const options = { rest, resource: scheduleResource, store: deps.schedules, signal };
      await removeFinalizer({ ...options, finalizer: fleetScheduleFinalizer }, found);
      return done();
    }
    const clusters = await inspectClusters(refOf(key).namespace ?? "", found);
    const now = clock.now();
    const window = rules.stateOf(found, now);
    const { problem } = rules.judge(found);
    const status = statuses.current(found);
    const schedule = status === undefined ? found : { ...found, status };
    statuses.publish(
      found,
      scheduleStatus({ schedule, window, problem, clusters, now: formatTimeMs(now) }),
    );
    return window?.changesAtMs === undefined ? done() : requeueAt(window.changesAtMs, now);
  };

  /**
   * Refreshes the Clusters that a Schedule is for whose status differs from what their Schedules say; returns their names. Those that it
   * is no longer for are refreshed when that changes.
   */
  async function inspectClusters(
    namespace: string,
    schedule: Schedule,
  ): Promise<readonly string[]> {
    const slices = createSlices();
    const names: string[] = [];
    for (const cluster of deps.clusters.byIndex(byNamespace, namespace)) {
      if (rules.isFor(schedule, cluster)) {
        names.push(cluster.metadata.name);
        if (isStale(cluster)) deps.clusterStatuses.refresh(keyOf(cluster));
      }
      if (slices.isOver) await slices.pause();
    }
    return names.sort();
  }

  function isStale(cluster: Cluster): boolean {
    const coverage = rules.coverageOf(cluster, clock.now());
    const processed = findCondition(cluster.status?.conditions, "Processed");
    return (
      isOtherCoverage(cluster.status, coverage) ||
      // Its message has what is wrong with a Schedule.
      coverage.invalid.length > 0 ||
      processed?.reason === scheduleInvalid
    );
  }
}

function requeueAt(atMs: number, nowMs: number): Result {
  const waitMs = Math.min(longestWaitMs, Math.max(0, atMs - nowMs));
  return requeueAfter(waitMs, "the window opens or closes");
}
