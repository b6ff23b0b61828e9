/** The app in its clusters: which version each runs and how it is there, as a map that follows an upgrade. */
import type { AppRef } from "@flotilla/shared/dashboard";
import { useCallback, useMemo } from "react";
import { releasePage, useParameter } from "../address/index.ts";
import {
  countVersions,
  objectKey,
  type Row,
  releaseStateAt,
  useFleet,
  useShownStates,
  type VersionCount,
  versionAt,
} from "../fleet/index.ts";
import { GroupingControls, useGrouping } from "../grouping/index.ts";
import { ClusterMap, fingerprintsOf } from "../map/index.ts";
import { lookOf } from "../state/index.ts";
import { toneOfVersion, VersionsBar, VersionsList } from "../versions/index.ts";

export interface RolloutPanelProps {
  readonly app: AppRef;
  /** Shows the clusters with that version below. */
  readonly chooseVersion: (version: string) => void;
}

export function RolloutPanel({ app, chooseVersion }: RolloutPanelProps) {
  const row = useFleet().rows.get(objectKey(app));
  const counts = useMemo(() => countVersions(row), [row]);
  return (
    <section className="card" aria-labelledby="rollout-title">
      <h2 id="rollout-title">Rollout</h2>
      {counts.length === 0 || row === undefined ? (
        <p className="soft">Not deployed to any cluster.</p>
      ) : (
        <>
          <VersionsList counts={counts} choose={chooseVersion} />
          <VersionsBar counts={counts} />
          <RolloutMap app={app} row={row} counts={counts} />
        </>
      )}
    </section>
  );
}

interface RolloutMapProps {
  readonly app: AppRef;
  readonly row: Row;
  readonly counts: readonly VersionCount[];
}

function RolloutMap({ app, row, counts }: RolloutMapProps) {
  const { columns } = useFleet();
  const states = useShownStates();
  const [colours, setColours] = useParameter("colours", "state");
  const isDeployed = useCallback((column: number) => (row.states[column] ?? 0) !== 0, [row]);
  const grouping = useGrouping(isDeployed);
  const fingerprints = useMemo(() => fingerprintsOf([row], columns.length), [row, columns]);
  const toneOf = useCallback(
    (column: number) => {
      const state = releaseStateAt(row, column);
      if (state === undefined) return undefined;
      if (colours === "state") return lookOf(states.ofRelease(app, state)).tone;
      const version = versionAt(row, column);
      const index = counts.findIndex((each) => each.version === version);
      return toneOfVersion(index, version);
    },
    [app, states, row, counts, colours],
  );
  return (
    <>
      <div className="panel-head rollout-head">
        <label>
          Colour by{" "}
          <select value={colours} onChange={(event) => setColours(event.target.value)}>
            <option>state</option>
            <option>version</option>
          </select>
        </label>
        <GroupingControls grouping={grouping} />
      </div>
      <ClusterMap
        name="The state or version in each cluster; the table below says the same"
        groups={grouping.groups}
        toneOf={toneOf}
        fingerprints={fingerprints}
        textOf={(column) => <TileText app={app} row={row} column={column} />}
        pageOf={(column) => {
          const cluster = columns[column];
          return cluster === undefined ? undefined : releasePage(cluster, app);
        }}
        onZoom={grouping.zoom}
      />
    </>
  );
}

interface TileTextProps {
  readonly app: AppRef;
  readonly row: Row;
  readonly column: number;
}

function TileText({ app, row, column }: TileTextProps) {
  const { columns } = useFleet();
  const states = useShownStates();
  const state = releaseStateAt(row, column);
  return (
    <>
      <strong>{columns[column]}</strong>
      <br />
      {state !== undefined && lookOf(states.ofRelease(app, state)).word},{" "}
      {versionAt(row, column) || "not installed"}
    </>
  );
}
