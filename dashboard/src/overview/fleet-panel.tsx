/** The whole fleet as a picture: its clusters as tiles, or its apps by clusters. */
import { appKinds, nameKinds } from "@flotilla/shared/api/apps";
import { useCallback, useMemo } from "react";
import { useParameter } from "../address/index.ts";
import { clusterKey, stateOfColumn, useFleet, useShownStates } from "../fleet/index.ts";
import { GroupingControls, GroupTable, useGrouping } from "../grouping/index.ts";
import { ClusterMap, fingerprintsOf, Legend, type LegendEntry } from "../map/index.ts";
import { Matrix } from "../matrix/index.ts";
import { lookOf } from "../state/index.ts";

const views = [
  { id: "map", name: "Map of clusters" },
  { id: "apps", name: "Apps by clusters" },
] as const;

export function FleetPanel() {
  const { apps, clusters, columns, rows } = useFleet();
  const [view, setView] = useParameter("view", "map");
  // A cluster that was deleted has a column without a state.
  const isThere = useCallback(
    (column: number) => stateOfColumn({ clusters, columns, rows }, column) !== undefined,
    [clusters, columns, rows],
  );
  const grouping = useGrouping(isThere);
  const { groups, zoom } = grouping;
  return (
    <section className="card" aria-labelledby="fleet-title">
      <div className="panel-head">
        <h2 id="fleet-title">Fleet</h2>
        <div className="choices">
          {views.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              className="button"
              aria-pressed={view === id}
              onClick={() => setView(id)}
            >
              {name}
            </button>
          ))}
        </div>
        <GroupingControls grouping={grouping} />
      </div>
      {view !== "apps" ? (
        <StatesMap groups={groups} onZoom={zoom} />
      ) : apps.size === 0 ? (
        <p className="soft">There is no {nameKinds(appKinds)} yet.</p>
      ) : (
        <Matrix groups={groups} onZoom={zoom} />
      )}
      <GroupTable groups={groups} onZoom={zoom} />
    </section>
  );
}

const legend: readonly LegendEntry[] = [
  { tone: "bad", text: "failed or not ready" },
  { tone: "warn", text: "modified or blocked" },
  { tone: "off", text: "offline" },
  { tone: "busy", text: "in progress" },
  { tone: "good", text: "ready" },
];

type MapProps = Pick<Parameters<typeof Matrix>[0], "groups" | "onZoom">;

function StatesMap({ groups, onZoom }: MapProps) {
  const fleet = useFleet();
  const { clusters, columns, rows } = fleet;
  const states = useShownStates();
  const fingerprints = useMemo(
    () => fingerprintsOf(rows.values(), columns.length),
    [rows, columns],
  );
  const toneOf = useCallback(
    (column: number) => {
      const state = states.ofColumn(column);
      return state === undefined ? undefined : lookOf(state).tone;
    },
    [states],
  );
  if (columns.length === 0) return <p className="soft">There is no Cluster yet.</p>;
  return (
    <>
      <ClusterMap
        name="The state of each cluster; the table below has the numbers"
        groups={groups}
        toneOf={toneOf}
        fingerprints={fingerprints}
        textOf={(column) => <TileText column={column} />}
        pageOf={(column) => {
          const cluster = clusters.get(columns[column] ?? "");
          return cluster && `/clusters/${clusterKey(cluster)}`;
        }}
        onZoom={onZoom}
      />
      <Legend entries={legend} />
    </>
  );
}

function TileText({ column }: { readonly column: number }) {
  const fleet = useFleet();
  const key = fleet.columns[column] ?? "";
  const cluster = fleet.clusters.get(key);
  const state = useShownStates().ofColumn(column);
  return (
    <>
      <strong>{key}</strong>
      <br />
      {state === undefined ? "nothing is deployed there" : lookOf(state).word}
      {cluster !== undefined && `, ${cluster.ready} of ${cluster.desired} releases ready`}
    </>
  );
}
