/** Windows of the clusters of a Bundle that may promote nothing: what is in flight there is held and tried again as of any other. */
import type { Bundle, Cluster } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import type { Clock } from "@flotilla/shared/time";
import { clusterKeyOf } from "../../base/index.ts";
import type { Schedules } from "../../rules/index.ts";
import type { DeploymentWriter } from "./deployment-writer.ts";
import { offScheduleAt } from "./off-schedule.ts";
import { scheduledDeployment } from "./plan-deployments.ts";

export interface HeldWindowsDeps {
  readonly schedules: Pick<Schedules, "coverageOf">;
  readonly clusters: Pick<Store<Cluster>, "get">;
  readonly deployments: Pick<DeploymentWriter, "existing" | "write">;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Writes `offSchedule` of the deployments of a Bundle for which that has changed, and nothing else of them. Returns when it may change
 * again, ms since 1970; undefined: not before somebody edits a Schedule.
 */
export async function holdByWindows(
  { schedules, clusters, deployments, clock }: HeldWindowsDeps,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<number | undefined> {
  const windows = offScheduleAt(schedules, clock.now());
  const present = deployments.existing(bundle).flatMap((deployment) => {
    const cluster = clusters.get(clusterKeyOf(deployment));
    return cluster === undefined ? [] : [[deployment, cluster] as const];
  });
  await windows.lookUp(present.map(([, cluster]) => cluster));
  const replace = present.flatMap(
    ([deployment, cluster]) => scheduledDeployment(deployment, windows.isOff(cluster)) ?? [],
  );
  if (replace.length > 0)
    await deployments.write(
      { create: [], replace, remove: [], offSchedule: [], waiting: 0 },
      signal,
    );
  return windows.changesAtMs();
}
