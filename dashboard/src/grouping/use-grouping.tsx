/** How the clusters of a picture are grouped: by a label, perhaps only one group of it; the address has both. */
import { useMemo, useState } from "react";
import { useParameter } from "../address/index.ts";
import { useFleet } from "../fleet/index.ts";
import {
  type ClusterGroup,
  columnsByName,
  groupClusters,
  groupingLabels,
  noLabel,
} from "./groups.ts";

export interface Grouping {
  /** What is shown: all groups, or the chosen one. */
  readonly groups: readonly ClusterGroup[];
  readonly labels: readonly string[];
  readonly label: string;
  setLabel(label: string): void;
  /** Whether only one group is shown. */
  readonly isZoomed: boolean;
  /** `value`: of the label; undefined: all groups. */
  zoom(value: string | undefined): void;
}

/** The address marks a value, because the group without the label has none. */
const zoomMark = "=";

/** `isShown`: whether a cluster, by its column, is in the picture. */
export function useGrouping(isShown: (column: number) => boolean): Grouping {
  const { clusters, columns } = useFleet();
  const [label, setLabel] = useParameter("group", noLabel);
  const [zoom, setZoom] = useParameter("zoom", "");
  const labels = useMemo(() => groupingLabels(clusters.values()), [clusters]);
  const order = useMemo(() => columnsByName(columns), [columns]);
  const shown = useStable(order.filter(isShown));
  const all = useMemo(
    () => groupClusters({ columns, clusters }, label, shown),
    [columns, clusters, label, shown],
  );
  const chosen = useMemo(
    () => all.filter(({ value }) => `${zoomMark}${value}` === zoom),
    [all, zoom],
  );
  const isZoomed = chosen.length > 0 && all.length > 1;
  return {
    groups: isZoomed ? chosen : all,
    labels,
    label,
    isZoomed,
    setLabel(next) {
      setZoom("");
      setLabel(next);
    },
    zoom: (value) => setZoom(value === undefined ? "" : `${zoomMark}${value}`),
  };
}

/** The array of before as long as it has the same elements: what depends on it is not made again. */
function useStable(next: readonly number[]): readonly number[] {
  const [kept, setKept] = useState(next);
  const isSame =
    kept.length === next.length && next.every((element, index) => element === kept[index]);
  if (!isSame) setKept(next);
  return isSame ? kept : next;
}

export function GroupingControls({ grouping }: { readonly grouping: Grouping }) {
  const { labels, label, setLabel, isZoomed, zoom } = grouping;
  return (
    <>
      <label>
        Group by{" "}
        <select value={label} onChange={(event) => setLabel(event.target.value)}>
          <option value={noLabel}>nothing</option>
          {labels.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      {isZoomed && (
        <button type="button" className="button" onClick={() => zoom(undefined)}>
          All clusters
        </button>
      )}
    </>
  );
}
