/**
 * Clusters as tiles, grouped by a label: what each is like by colour and shape, and what has changed there as motion, for a moment.
 * What is in progress does not move: that may last for hours, and each frame costs processor time.
 */
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Tip, usePalette, useSize } from "../canvas/index.ts";
import { type ClusterGroup, GroupHead } from "../grouping/index.ts";
import type { Tone } from "../state/index.ts";
import { changedColumns } from "./changes.ts";
import { type Brush, drawChange, drawTile, type TileDrawing } from "./draw.ts";
import { columnAt, layoutMap, tilesOf } from "./layout.ts";
import { useAnimation } from "./use-animation.ts";
import "./cluster-map.css";

export interface ClusterMapProps {
  /** What it shows, for those who do not see it. */
  readonly name: string;
  readonly groups: readonly ClusterGroup[];
  /** Here and below: of the fleet's column. */
  readonly toneOf: (column: number) => Tone | undefined;
  /** Numbers that differ as soon as something in a cluster has changed. */
  readonly fingerprints: Uint32Array;
  readonly textOf: (column: number) => ReactNode;
  readonly pageOf: (column: number) => string | undefined;
  readonly onZoom: (value: string) => void;
}

const maxHeight = 300;
/** How long a change can be seen. */
const fadeMs = 1_200;

export function ClusterMap(props: ClusterMapProps) {
  const { name, groups, toneOf, fingerprints, textOf, pageOf, onZoom } = props;
  const [, go] = useLocation();
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(frame);
  const palette = usePalette();
  const [pointed, setPointed] = useState<{ column: number; x: number; y: number }>();
  const layout = useMemo(() => layoutMap(groups, width, maxHeight), [groups, width]);
  const tiles = useMemo(
    () => [...tilesOf(layout)].map((tile) => ({ ...tile, tone: toneOf(tile.column) })),
    [layout, toneOf],
  );
  const changes = useChanges(fingerprints);
  const brush = useRef<Brush>(undefined);

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (canvas.current === null || !context || width === 0) return;
    const scale = devicePixelRatio;
    canvas.current.width = Math.round(width * scale);
    canvas.current.height = Math.round(layout.height * scale);
    context.scale(scale, scale);
    brush.current = { context, palette, pitch: layout.pitch };
    for (const tile of tiles) drawTile(brush.current, tile);
  }, [tiles, layout, width, palette]);

  const draw = useMemo(
    () =>
      changes.size === 0
        ? undefined
        : (nowMs: number) =>
            brush.current !== undefined && fade(brush.current, { tiles, changes }, nowMs),
    [tiles, changes],
  );
  useAnimation(draw, canvas);

  function point(event: React.MouseEvent<HTMLCanvasElement>) {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const column = columnAt(layout, x, y);
    return column === undefined ? undefined : { column, x, y };
  }

  return (
    <div className="map" ref={frame} style={{ minBlockSize: layout.height }}>
      {layout.headHeight > 0 &&
        layout.blocks.map(({ value, name: group, columns, x, y, width: wide }) => (
          <GroupHead
            key={value}
            value={value}
            name={group}
            count={columns.length}
            onZoom={onZoom}
            style={{ insetInlineStart: x, insetBlockStart: y, inlineSize: wide }}
          />
        ))}
      <canvas
        ref={canvas}
        role="img"
        aria-label={name}
        className="map-canvas"
        style={{ inlineSize: width, blockSize: layout.height }}
        onMouseMove={(event) => setPointed(point(event))}
        onMouseLeave={() => setPointed(undefined)}
        onClick={(event) => {
          const page = pageOf(point(event)?.column ?? -1);
          if (page !== undefined) go(page);
        }}
      />
      {pointed !== undefined && (
        <Tip x={pointed.x} y={pointed.y} width={width}>
          {textOf(pointed.column)}
        </Tip>
      )}
    </div>
  );
}

/**
 * By column: when its last change was seen, in the time of frames. Another map with each change; what has faded is deleted by the
 * animation, which may be much later where the page was hidden.
 */
function useChanges(fingerprints: Uint32Array): Map<number, number> {
  const [seen, setSeen] = useState({ fingerprints, changes: new Map<number, number>() });
  useEffect(() => {
    setSeen((before) => {
      const changed = changedColumns(before.fingerprints, fingerprints);
      if (changed.length === 0) return { fingerprints, changes: before.changes };
      const now = performance.now();
      const changes = new Map([...before.changes, ...changed.map((each) => [each, now] as const)]);
      return { fingerprints, changes };
    });
  }, [fingerprints]);
  return seen.changes;
}

interface Motion {
  readonly tiles: readonly TileDrawing[];
  readonly changes: Map<number, number>;
}

/** Returns whether there is more to draw. What has faded is deleted, also where its cluster is not in the picture. */
function fade(brush: Brush, { tiles, changes }: Motion, nowMs: number): boolean {
  for (const tile of tiles) {
    const changedAt = changes.get(tile.column);
    if (changedAt === undefined) continue;
    drawChange(brush, tile, Math.min(1, Math.max(0, (nowMs - changedAt) / fadeMs)));
  }
  for (const [column, changedAt] of changes)
    if (nowMs - changedAt >= fadeMs) changes.delete(column);
  return changes.size > 0;
}
