/** The controller of Schedules and the publisher of their statuses: what they watch, and how a change maps to keys. */
import {
  type Cluster,
  type ClusterStatus,
  type Schedule,
  type ScheduleStatus,
  schedules as scheduleResource,
} from "@flotilla/shared/api";
import {
  type Controller,
  createController,
  isSpecChange,
  ownKey,
  through,
  watch,
} from "@flotilla/shared/kube/controller";
import { type ControllerDeps, createPublisher, type Publisher } from "../../base/index.ts";
import type { Schedules } from "../../rules/index.ts";
import { createConcerned } from "./concerned.ts";
import { scheduleReconciler } from "./reconcile.ts";
import { isUrgentSchedule } from "./status.ts";

export interface ScheduleControllerDeps extends ControllerDeps {
  readonly schedules: Schedules;
  readonly statuses: Publisher<ScheduleStatus, Schedule>;
  readonly clusterStatuses: Pick<Publisher<ClusterStatus, Cluster>, "refresh">;
}

/** Thousands of agents that enrol change the list of clusters; each Cluster itself knows its Schedules at once. */
const coalesceMs = 1_000;

export function createScheduleController(deps: ScheduleControllerDeps): Controller {
  const { schedules, clusters, groups } = deps.caches;
  const concerned = createConcerned({
    schedules: schedules.store,
    clusters: clusters.store,
    rules: deps.schedules,
  });
  const toStatus = () => deps.clusterStatuses.refresh;
  const controller: Controller = createController({
    name: "schedule",
    workers: 4,
    reconcile: scheduleReconciler({
      rest: deps.rest,
      schedules: schedules.store,
      clusters: clusters.store,
      rules: deps.schedules,
      statuses: deps.statuses,
      clusterStatuses: deps.clusterStatuses,
      clock: deps.clock,
    }),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      watch(schedules, { predicate: isSpecChange, toKeys: ownKey }),
      watch(groups, {
        predicate: isSpecChange,
        toKeys: concerned.schedulesOfGroup,
        replay: false,
      }),
      through(
        watch(clusters, {
          predicate: isSpecChange,
          toKeys: concerned.schedulesOfCluster,
          replay: false,
        }),
        () => (key) => controller.enqueueAfter(key, coalesceMs),
      ),
      through(
        watch(schedules, {
          predicate: isSpecChange,
          toKeys: concerned.clustersOfSchedule,
          replay: false,
        }),
        toStatus,
      ),
      through(
        watch(groups, {
          predicate: isSpecChange,
          toKeys: concerned.clustersOfGroup,
          replay: false,
        }),
        toStatus,
      ),
    ],
  });
  return controller;
}

export function createSchedulePublisher({
  rest,
  caches,
  clock,
  log,
}: Pick<ControllerDeps, "rest" | "caches" | "clock" | "log">): Publisher<ScheduleStatus, Schedule> {
  return createPublisher<ScheduleStatus, Schedule>({
    rest,
    clock,
    log,
    resource: scheduleResource,
    store: caches.schedules.store,
    isUrgent: isUrgentSchedule,
    rollUp: ({ status }) => status,
  });
}
