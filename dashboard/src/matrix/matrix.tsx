/** Apps by clusters, as a picture: every release of the fleet, grouped by a label of the clusters. */
import type { App } from "@flotilla/shared/dashboard";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { pageOf, releasePage } from "../address/index.ts";
import { StateIcon } from "../badge/index.ts";
import { Tip, usePalette, useSize } from "../canvas/index.ts";
import { objectKey, releaseStateAt, useFleet, useShownStates, versionAt } from "../fleet/index.ts";
import { type ClusterGroup, GroupHead } from "../grouping/index.ts";
import { byUrgency, lookOf } from "../state/index.ts";
import { drawRows } from "./draw.ts";
import { type Cell, cellAt, layoutGroups, namedCells, stateOfCell } from "./layout.ts";
import "./matrix.css";

const rowHeight = 24;
const maxHeightPx = 420;

export interface MatrixProps {
  readonly groups: readonly ClusterGroup[];
  readonly onZoom: (value: string) => void;
}

interface Pointed {
  readonly app: App;
  readonly cell: Cell;
  readonly x: number;
  readonly y: number;
}

export function Matrix({ groups, onZoom }: MatrixProps) {
  const fleet = useFleet();
  const states = useShownStates();
  const apps = useMemo(
    () =>
      [...fleet.apps.values()].sort(
        (one, other) =>
          byUrgency(states.ofApp(one), states.ofApp(other)) || one.name.localeCompare(other.name),
      ),
    [fleet.apps, states],
  );
  const [, go] = useLocation();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const { width } = useSize(plot);
  const palette = usePalette();
  const [pointed, setPointed] = useState<Pointed>();
  const height = Math.min(maxHeightPx, apps.length * rowHeight);
  const layout = useMemo(() => layoutGroups(groups, width), [groups, width]);
  const named = useMemo(() => namedCells(layout), [layout]);
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
      rows: items.flatMap(({ index }) => {
        const app = apps[index];
        return app === undefined ? [] : [{ app, row: fleet.rows.get(objectKey(app)) }];
      }),
      states,
      top: (items[0]?.start ?? 0) - (rows.scrollOffset ?? 0),
      rowHeight,
      palette,
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
          {layout.map(({ value, name, x, count, width: wide }) => (
            <GroupHead
              key={value}
              value={value}
              name={name}
              count={count}
              onZoom={onZoom}
              style={{ insetInlineStart: x, inlineSize: wide }}
            />
          ))}
        </div>
      </div>
      {named.length > 0 && (
        <div className="matrix-columns" aria-hidden="true">
          <span className="matrix-name" />
          <div className="matrix-heads">
            {named.map(({ column, x, width: wide }) => (
              <span
                key={column}
                className="matrix-column"
                title={fleet.columns[column]}
                style={{ left: x, width: wide }}
              >
                {clusterName(fleet.columns[column] ?? "")}
              </span>
            ))}
          </div>
        </div>
      )}
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
                  title={`${app.kind} ${app.namespace}/${app.name}: ${lookOf(states.ofApp(app)).word}`}
                >
                  <StateIcon tone={lookOf(states.ofApp(app)).tone} />
                  <span className="visually-hidden">{lookOf(states.ofApp(app)).word}: </span>
                  <span className="matrix-text">{app.name}</span>
                </Link>
              );
            })}
          </div>
          <div className="matrix-plot" ref={plot}>
            <canvas
              ref={canvas}
              role="img"
              aria-label="The state of each release; each app's page lists its clusters"
              className="matrix-canvas"
              style={{ inlineSize: width, blockSize: height }}
              onMouseMove={(event) => setPointed(point(event))}
              onMouseLeave={() => setPointed(undefined)}
              onClick={open}
            />
            {pointed !== undefined && (
              <Tip x={pointed.x} y={pointed.y} width={width}>
                <TipText {...pointed} />
              </Tip>
            )}
          </div>
        </div>
      </div>
    </>
  );
}

/** Without its namespace. */
function clusterName(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

function TipText({ app, cell }: Pick<Pointed, "app" | "cell">) {
  const { rows, columns } = useFleet();
  const states = useShownStates();
  const row = rows.get(objectKey(app));
  const { worst, share } = stateOfCell(cell, (column) => releaseStateAt(row, column));
  const [first, ...others] = cell.columns;
  const version = first === undefined ? "" : versionAt(row, first);
  return (
    <>
      <strong>{app.name}</strong>{" "}
      {others.length === 0
        ? `on ${columns[first ?? 0] ?? ""}`
        : `on ${cell.columns.length} clusters`}
      <br />
      {worst === undefined
        ? "not deployed there"
        : `${lookOf(states.ofRelease(app, worst)).word}${others.length > 0 ? ` on ${Math.round(share * 100)}%` : ""}${others.length === 0 && version !== "" ? `, ${version}` : ""}`}
    </>
  );
}
