/** Apps by clusters, as a picture: every release of the fleet, grouped by a label of the clusters. */
import type { App } from "@flotilla/shared/dashboard";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { pageOf, releasePage, useParameter } from "../address/index.ts";
import { StateIcon } from "../badge/index.ts";
import { objectKey, releaseStateAt, useFleet, versionAt } from "../fleet/index.ts";
import { byUrgency, lookOf } from "../state/index.ts";
import { drawRows, readPalette } from "./draw.ts";
import { type ClusterGroup, groupClusters, groupingLabels, noLabel } from "./groups.ts";
import { type Cell, cellAt, layoutGroups, stateOfCell } from "./layout.ts";
import { useSize } from "./use-size.ts";
import "./matrix-panel.css";

const rowHeight = 24;
const tallest = 420;

export function MatrixPanel() {
  const fleet = useFleet();
  const labels = useMemo(() => groupingLabels(fleet.clusters.values()), [fleet.clusters]);
  const [label, setLabel] = useParameter("group", noLabel);
  const [zoom, setZoom] = useParameter("zoom", "");
  const apps = useMemo(
    () =>
      [...fleet.apps.values()].sort(
        (one, other) => byUrgency(one.state, other.state) || one.name.localeCompare(other.name),
      ),
    [fleet.apps],
  );
  const all = useMemo(
    () => groupClusters({ columns: fleet.columns, clusters: fleet.clusters }, label),
    [fleet.columns, fleet.clusters, label],
  );
  const shown = zoom === "" ? all : all.filter(({ value }) => value === zoom);
  return (
    <section className="card matrix" aria-labelledby="matrix-title">
      <div className="panel-head">
        <h2 id="matrix-title">Apps by clusters</h2>
        <label>
          Group by{" "}
          <select
            value={label}
            onChange={(event) => {
              setZoom("");
              setLabel(event.target.value);
            }}
          >
            <option value={noLabel}>nothing</option>
            {labels.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {zoom !== "" && (
          <button type="button" className="button" onClick={() => setZoom("")}>
            All clusters
          </button>
        )}
      </div>
      {apps.length === 0 ? (
        <p className="soft">There is no HelmOp, HelmRelease or Bundle yet.</p>
      ) : (
        <Picture apps={apps} groups={shown.length > 0 ? shown : all} onZoom={setZoom} />
      )}
    </section>
  );
}

interface PictureProps {
  readonly apps: readonly App[];
  readonly groups: readonly ClusterGroup[];
  readonly onZoom: (value: string) => void;
}

interface Pointed {
  readonly app: App;
  readonly cell: Cell;
  readonly x: number;
  readonly y: number;
}

function Picture({ apps, groups, onZoom }: PictureProps) {
  const fleet = useFleet();
  const [, go] = useLocation();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const { width } = useSize(plot);
  const [pointed, setPointed] = useState<Pointed>();
  const height = Math.min(tallest, apps.length * rowHeight);
  const layout = useMemo(() => layoutGroups(groups, width), [groups, width]);
  const rows = useVirtualizer({
    count: apps.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 4,
  });
  const items = rows.getVirtualItems();

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (canvas.current === null || !context || width === 0) return;
    const scale = devicePixelRatio;
    canvas.current.width = Math.round(width * scale);
    canvas.current.height = Math.round(height * scale);
    context.scale(scale, scale);
    drawRows(context, {
      groups: layout,
      rows: items.map(({ index }) => {
        const app = apps[index];
        return app === undefined ? undefined : fleet.rows.get(objectKey(app));
      }),
      top: (items[0]?.start ?? 0) - (rows.scrollOffset ?? 0),
      ...{ rowHeight, palette: readPalette() },
    });
  });

  function point(event: React.MouseEvent<HTMLCanvasElement>): Pointed | undefined {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const app = apps[Math.floor((y + (rows.scrollOffset ?? 0)) / rowHeight)];
    const cell = cellAt(layout, x);
    return app === undefined || cell === undefined ? undefined : { app, cell, x, y };
  }

  function open(event: React.MouseEvent<HTMLCanvasElement>): void {
    const at = point(event);
    const [column, ...others] = at?.cell.columns ?? [];
    if (at === undefined || column === undefined) return;
    const group = groups.find(({ columns }) => columns.includes(column));
    if (others.length > 0 && group !== undefined && groups.length > 1) {
      onZoom(group.value);
      return;
    }
    const row = fleet.rows.get(objectKey(at.app));
    const worst = stateOfCell(at.cell, (each) => releaseStateAt(row, each)).worst;
    const chosen = at.cell.columns.find((each) => releaseStateAt(row, each) === worst) ?? column;
    if (worst !== undefined) go(releasePage(fleet.columns[chosen] ?? "", at.app));
  }

  return (
    <>
      <div className="matrix-groups" aria-hidden="true">
        <span className="matrix-name" />
        <div className="matrix-heads">
          {layout.map(({ value, x, count, width: wide }) => (
            <button
              type="button"
              tabIndex={-1}
              key={value}
              className="matrix-head"
              style={{ insetInlineStart: x, inlineSize: wide }}
              title={`${value === "" ? "without the label" : value}: ${count} clusters`}
              onClick={() => onZoom(value)}
            >
              {value === "" ? "" : value} <small>{count}</small>
            </button>
          ))}
        </div>
      </div>
      <div className="matrix-scroll" ref={scroller} style={{ blockSize: height }}>
        <div className="matrix-rows" style={{ blockSize: rows.getTotalSize() }}>
          <div className="matrix-names">
            {items.map(({ index, start }) => {
              const app = apps[index];
              return app === undefined ? null : (
                <Link
                  key={objectKey(app)}
                  href={pageOf(app)}
                  className="matrix-name"
                  style={{ transform: `translateY(${start}px)`, blockSize: rowHeight }}
                  title={`${app.kind} ${app.namespace}/${app.name}: ${lookOf(app.state).word}`}
                >
                  <StateIcon tone={lookOf(app.state).tone} />
                  <span className="visually-hidden">{lookOf(app.state).word}: </span>
                  {app.name}
                </Link>
              );
            })}
          </div>
          <div className="matrix-plot" ref={plot}>
            <canvas
              ref={canvas}
              role="img"
              aria-label="The state of each release; the table below says the same"
              className="matrix-canvas"
              style={{ inlineSize: width, blockSize: height }}
              onMouseMove={(event) => setPointed(point(event))}
              onMouseLeave={() => setPointed(undefined)}
              onClick={open}
            />
            {pointed !== undefined && <Tip {...pointed} width={width} />}
          </div>
        </div>
      </div>
      <GroupTable groups={groups} onZoom={onZoom} />
    </>
  );
}

function Tip({ app, cell, x, y, width }: Pointed & { readonly width: number }) {
  const { rows, columns } = useFleet();
  const row = rows.get(objectKey(app));
  const { worst, share } = stateOfCell(cell, (column) => releaseStateAt(row, column));
  const [first, ...others] = cell.columns;
  const version = first === undefined ? "" : versionAt(row, first);
  return (
    <div
      className={`matrix-tip ${x > width / 2 ? "matrix-tip-left" : ""}`}
      style={{ insetInlineStart: x, insetBlockStart: y }}
    >
      <strong>{app.name}</strong>{" "}
      {others.length === 0
        ? `on ${columns[first ?? 0] ?? ""}`
        : `on ${cell.columns.length} clusters`}
      <br />
      {worst === undefined
        ? "not deployed there"
        : `${lookOf(worst).word}${others.length > 0 ? ` on ${Math.round(share * 100)}%` : ""}${others.length === 0 && version !== "" ? `, ${version}` : ""}`}
    </div>
  );
}

/** The same by groups, for keyboards and screen readers. */
function GroupTable({ groups, onZoom }: Pick<PictureProps, "groups" | "onZoom">) {
  const { columns, clusters } = useFleet();
  return (
    <details className="matrix-table">
      <summary>As a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Clusters</th>
            <th scope="col">Ready</th>
            <th scope="col">Offline</th>
            <th scope="col">Other</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ value, columns: members }) => {
            const states = members.map((column) => clusters.get(columns[column] ?? "")?.state);
            const ready = states.filter((state) => state === "Ready").length;
            const offline = states.filter((state) => state === "Offline").length;
            return (
              <tr key={value}>
                <th scope="row">
                  <button type="button" className="button" onClick={() => onZoom(value)}>
                    {value === "" ? "all others" : value}
                  </button>
                </th>
                <td>{members.length}</td>
                <td>{ready}</td>
                <td>{offline}</td>
                <td>{members.length - ready - offline}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}
