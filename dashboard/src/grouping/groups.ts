/** Clusters grouped by the value of a label. Pure. */
import type { FleetCluster } from "@flotilla/shared/dashboard";
import type { FleetState } from "../fleet/index.ts";

export interface ClusterGroup {
  /** The label's value; "": clusters without the label, or all. */
  readonly value: string;
  /** What it is called. */
  readonly name: string;
  /** Columns of the fleet, by the name of the cluster. */
  readonly columns: readonly number[];
}

/** All clusters as one group. */
export const noLabel = "";

/** The columns of the fleet by the names of their clusters. */
export function columnsByName(columns: readonly string[]): readonly number[] {
  const name = (column: number) => columns[column] ?? "";
  return [...columns.keys()].sort((one, other) => (name(one) < name(other) ? -1 : 1));
}

/** `order`: the columns to group, in the order that they have in their groups. */
export function groupClusters(
  { columns, clusters }: Pick<FleetState, "columns" | "clusters">,
  label: string,
  order: readonly number[],
): readonly ClusterGroup[] {
  if (label === noLabel) return [{ value: "", name: "all clusters", columns: order }];
  const groups = new Map<string, number[]>();
  for (const column of order) {
    const value = clusters.get(columns[column] ?? "")?.labels[label] ?? "";
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [column]);
    else group.push(column);
  }
  return [...groups]
    .sort(([one], [other]) => (one === "" ? 1 : other === "" ? -1 : one.localeCompare(other)))
    .map(([value, members]) => ({
      value,
      columns: members,
      name: value === "" ? `without ${label}` : value,
    }));
}

/** The labels that tell clusters apart, those with the fewest values first; a label with a value for each is not a group. */
export function groupingLabels(clusters: Iterable<FleetCluster>): readonly string[] {
  const values = new Map<string, Set<string>>();
  let total = 0;
  for (const { labels } of clusters) {
    total += 1;
    for (const [label, value] of Object.entries(labels)) {
      const known = values.get(label);
      if (known === undefined) values.set(label, new Set([value]));
      else known.add(value);
    }
  }
  const most = Math.max(2, total / 2);
  return [...values]
    .filter(([, { size }]) => size <= most)
    .sort(([one, a], [other, b]) => a.size - b.size || one.localeCompare(other))
    .map(([label]) => label);
}
