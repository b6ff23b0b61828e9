/**
 * Where the tiles of the clusters are drawn: a block for each group, beside each other as long as they fit, with tiles as large as
 * the height allows. Pure.
 */
import type { ClusterGroup } from "../grouping/index.ts";

/** All lengths are in pixels. */
export interface Block {
  readonly value: string;
  readonly name: string;
  /** The columns of the fleet, in the order of the tiles. */
  readonly columns: readonly number[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** How many tiles are beside each other. */
  readonly perRow: number;
}

export interface MapLayout {
  readonly blocks: readonly Block[];
  /** From one tile to the next. */
  readonly pitch: number;
  readonly height: number;
  /** Above the tiles of a block, for its name; 0 with a single one. */
  readonly headHeight: number;
}

export const pitches = { min: 6, max: 26 } as const;
const head = 22;
const gap = 14;
/** So that the name of a small group can be read. */
const minBlockWidth = 76;
/** The shape of a block: wider than high, as a screen is. */
const aspect = 2.5;

/** As high as needed if the smallest tiles do not fit into `maxHeight`. */
export function layoutMap(
  groups: readonly ClusterGroup[],
  width: number,
  maxHeight: number,
): MapLayout {
  let pitch: number = pitches.max;
  let layout = layoutWith(groups, width, pitch);
  while (layout.height > maxHeight && pitch > pitches.min) {
    pitch -= 1;
    layout = layoutWith(groups, width, pitch);
  }
  return layout;
}

function layoutWith(groups: readonly ClusterGroup[], width: number, pitch: number): MapLayout {
  const most = Math.max(1, Math.floor(width / pitch));
  const headHeight = groups.length > 1 ? head : 0;
  const blocks: Block[] = [];
  let [x, y, rowHeight] = [0, 0, 0];
  for (const { value, name, columns } of groups) {
    const square = Math.ceil(Math.sqrt(columns.length * aspect));
    const perRow = groups.length === 1 ? most : Math.min(most, Math.max(1, square));
    const needed = Math.min(perRow, columns.length) * pitch;
    const blockWidth = Math.min(width, Math.max(minBlockWidth, needed));
    const height = headHeight + Math.ceil(columns.length / perRow) * pitch;
    if (x > 0 && x + blockWidth > width) {
      y += rowHeight + gap;
      [x, rowHeight] = [0, 0];
    }
    blocks.push({ value, name, columns, x, y, width: blockWidth, perRow });
    rowHeight = Math.max(rowHeight, height);
    x += blockWidth + gap;
  }
  return { blocks, pitch, height: y + rowHeight, headHeight };
}

export interface Tile {
  /** The column of the fleet. */
  readonly column: number;
  readonly x: number;
  readonly y: number;
}

export function* tilesOf({ blocks, pitch, headHeight }: MapLayout): Iterable<Tile> {
  for (const { columns, x, y, perRow } of blocks)
    for (const [index, column] of columns.entries())
      yield {
        column,
        x: x + (index % perRow) * pitch,
        y: y + headHeight + Math.floor(index / perRow) * pitch,
      };
}

/** The column of the tile at a position; undefined between tiles of different blocks. */
export function columnAt(
  { blocks, pitch, headHeight }: MapLayout,
  x: number,
  y: number,
): number | undefined {
  for (const block of blocks) {
    const across = Math.floor((x - block.x) / pitch);
    const down = Math.floor((y - block.y - headHeight) / pitch);
    if (across < 0 || across >= block.perRow || down < 0) continue;
    const column = block.columns[down * block.perRow + across];
    if (column !== undefined) return column;
  }
  return undefined;
}
