/**
 * The metrics of a kind of app: the same counts for each kind, so that one expression reads them of all. Kinds of Fleet have Fleet's names.
 * Pure.
 */
import type { ResourceCounts } from "@flotilla/shared/api";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { type Count, type Listed, metricsOf, resourceCountNames } from "./count-metrics.ts";
import type { SeriesMetric } from "./series.ts";

/** What is counted of an app; what its status does not have yet is 0. */
interface AppCounts {
  readonly readyClusters: number | undefined;
  readonly desiredReadyClusters: number | undefined;
  readonly resources: ResourceCounts | undefined;
}

interface CountedApps<T extends KubeObject> extends Listed<T> {
  readonly prefix: string;
  readonly countsOf: (object: T) => AppCounts;
}

export function appMetrics<T extends KubeObject>({
  prefix,
  countsOf,
  ...listed
}: CountedApps<T>): readonly SeriesMetric[] {
  const counts: readonly Count<T>[] = [
    [
      "desired_ready_clusters",
      "clusters that should be ready",
      (app) => countsOf(app).desiredReadyClusters ?? 0,
    ],
    ["ready_clusters", "clusters that are ready", (app) => countsOf(app).readyClusters ?? 0],
    ...Object.entries(resourceCountNames).map(
      ([name, [field, help]]): Count<T> => [
        `resources_${name}`,
        `objects ${help}`,
        (app) => countsOf(app).resources?.[field] ?? 0,
      ],
    ),
  ];
  return metricsOf(prefix, { counts, ...listed });
}
