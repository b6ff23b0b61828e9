/** Which apps are deployed where, for the filters of the lists. Pure. */
import { type FleetState, objectKey } from "./fleet-state.ts";

/** Keys of the apps that have a release in a cluster whose `NAMESPACE/NAME` contains `text`. */
export function appsInCluster(
  { columns, rows }: Pick<FleetState, "columns" | "rows">,
  text: string,
): ReadonlySet<string> {
  const wanted = text.trim().toLowerCase();
  const chosen = [...columns.keys()].filter((column) =>
    columns[column]?.toLowerCase().includes(wanted),
  );
  const isIn = ({ states }: { readonly states: Uint8Array }) =>
    chosen.some((column) => (states[column] ?? 0) !== 0);
  return new Set([...rows].filter(([, row]) => isIn(row)).map(([key]) => key));
}

/** The clusters, as `NAMESPACE/NAME`, that have a release of an app with that chart. */
export function clustersWithChart(
  { apps, columns, rows }: Pick<FleetState, "apps" | "columns" | "rows">,
  chart: string,
): ReadonlySet<string> {
  const own = [...apps.values()]
    .filter((app) => app.chart === chart)
    .flatMap((app) => rows.get(objectKey(app)) ?? []);
  return new Set(columns.filter((_, column) => own.some(({ states }) => states[column])));
}

/** The charts of all apps, sorted. */
export function chartsOf({ apps }: Pick<FleetState, "apps">): readonly string[] {
  const charts = new Set([...apps.values()].map(({ chart }) => chart));
  charts.delete("");
  return [...charts].sort();
}
