/** Metrics that are counts in the statuses of objects: a series for each object and count. Pure. */
import type { ResourceCounts } from "@flotilla/shared/api";
import type { Labels, SeriesMetric } from "./series.ts";

/** The end of a metric's name after the prefix, its help, and what it is the count of. */
export type Count<T> = readonly [name: string, help: string, count: (object: T) => number];

/** The counts of objects by state: how Fleet names them, and what they are. */
export const resourceCountNames = {
  desired_ready: ["desiredReady", "that should be ready"],
  missing: ["missing", "that are missing"],
  modified: ["modified", "that were modified"],
  not_ready: ["notReady", "that are not ready"],
  orphaned: ["orphaned", "that should not be there"],
  ready: ["ready", "that are ready"],
  unknown: ["unknown", "whose state is unknown"],
  wait_applied: ["waitApplied", "that have not been applied yet"],
} as const satisfies Record<string, readonly [keyof ResourceCounts, string]>;

export interface Listed<T> {
  readonly list: () => readonly T[];
  readonly labelsOf: (object: T) => Labels;
}

/** `prefix`: how the names of all of them begin. */
export function metricsOf<T>(
  prefix: string,
  { counts, list, labelsOf }: Listed<T> & { readonly counts: readonly Count<T>[] },
): readonly SeriesMetric[] {
  return counts.map(([name, help, count]) => ({
    name: `${prefix}_${name}`,
    help: `How many ${help}.`,
    series: function* () {
      for (const object of list()) yield { labels: labelsOf(object), value: count(object) };
    },
  }));
}
