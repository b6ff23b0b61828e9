/**
 * Where the releases of a row are drawn: the groups beside each other, and in each as many cells as fit. A cell may stand for many
 * clusters; it then has the state of the one that needs attention most. Pure.
 */
import type { ReleaseState } from "@flotilla/shared/dashboard";
import { releaseStates } from "@flotilla/shared/dashboard/states";
import type { ClusterGroup } from "../grouping/index.ts";

export interface Cell {
  /** The columns of the fleet that it stands for. */
  readonly columns: readonly number[];
  /** In pixels. */
  readonly x: number;
  readonly width: number;
}

export interface GroupLayout {
  readonly value: string;
  readonly name: string;
  readonly count: number;
  readonly x: number;
  readonly width: number;
  readonly cells: readonly Cell[];
}

export const cellSize = { min: 4, max: 20 } as const;
const groupGap = 10;

/** Groups get width by their size, each at least one cell. */
export function layoutGroups(
  groups: readonly ClusterGroup[],
  widthPx: number,
): readonly GroupLayout[] {
  const total = groups.reduce((sum, { columns }) => sum + columns.length, 0);
  if (total === 0) return [];
  const free = Math.max(
    cellSize.min * groups.length,
    widthPx - groupGap * Math.max(0, groups.length - 1),
  );
  const each = Math.min(cellSize.max, free / total);
  let x = 0;
  return groups.map(({ value, name, columns }) => {
    const width = Math.max(cellSize.min, columns.length * each);
    const cells = cellsOf(columns, x, width);
    const layout = { value, name, count: columns.length, x, width, cells };
    x += width + groupGap;
    return layout;
  });
}

function cellsOf(columns: readonly number[], x: number, width: number): readonly Cell[] {
  const count = Math.max(1, Math.min(columns.length, Math.floor(width / cellSize.min)));
  const size = width / count;
  return Array.from({ length: count }, (_, index) => ({
    columns: columns.slice(
      Math.floor((index * columns.length) / count),
      Math.floor(((index + 1) * columns.length) / count),
    ),
    x: x + index * size,
    width: size,
  }));
}

/** In pixels: what a line of text needs. */
const namedWidth = 14;

/** The cells that are wide enough for the name of their cluster; each stands for one cluster. */
export function namedCells(
  groups: readonly GroupLayout[],
): readonly { readonly column: number; readonly x: number; readonly width: number }[] {
  return groups
    .flatMap(({ cells }) => cells)
    .flatMap(({ columns: [column, ...others], x, width }) =>
      column === undefined || others.length > 0 || width < namedWidth ? [] : [{ column, x, width }],
    );
}

/** The cell at a position; undefined between groups. */
export function cellAt(groups: readonly GroupLayout[], x: number): Cell | undefined {
  const group = groups.find((each) => x >= each.x && x < each.x + each.width);
  return group?.cells.find((cell) => x >= cell.x && x < cell.x + cell.width);
}

export interface CellState {
  /** That needs attention most; undefined: no release in any of its clusters. */
  readonly worst: ReleaseState | undefined;
  /** The part of its releases that are in that state, up to 1. */
  readonly share: number;
}

/** `stateAt`: of a column. */
export function stateOfCell(
  { columns }: Cell,
  stateAt: (column: number) => ReleaseState | undefined,
): CellState {
  let worst: number = releaseStates.length;
  let inWorst = 0;
  let total = 0;
  for (const column of columns) {
    const state = stateAt(column);
    if (state === undefined) continue;
    total += 1;
    const rank = releaseStates.indexOf(state);
    if (rank < worst) {
      worst = rank;
      inWorst = 1;
    } else if (rank === worst) inWorst += 1;
  }
  return { worst: releaseStates.at(worst), share: total === 0 ? 0 : inWorst / total };
}
