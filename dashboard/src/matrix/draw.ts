/** Draws rows of releases on a canvas. */

import type { AppRef } from "@flotilla/shared/dashboard";
import type { Palette } from "../canvas/index.ts";
import { type Row, releaseStateAt, type ShownStates } from "../fleet/index.ts";
import { lookOf } from "../state/index.ts";
import { type GroupLayout, stateOfCell } from "./layout.ts";

export interface DrawnRow {
  readonly app: AppRef;
  readonly row: Row | undefined;
}

export interface DrawOptions {
  readonly groups: readonly GroupLayout[];
  readonly rows: readonly DrawnRow[];
  readonly states: Pick<ShownStates, "ofRelease">;
  /** The top of the first row, in pixels; may be negative. */
  readonly top: number;
  readonly rowHeight: number;
  readonly palette: Palette;
}

const gap = 2;

export function drawRows(context: CanvasRenderingContext2D, options: DrawOptions): void {
  const { groups, rows, states, top, rowHeight, palette } = options;
  const height = rowHeight - gap;
  for (const [index, { app, row }] of rows.entries()) {
    const y = top + index * rowHeight;
    for (const { cells } of groups)
      for (const cell of cells) {
        const { worst, share } = stateOfCell(cell, (column) => releaseStateAt(row, column));
        const width = Math.max(1, cell.width - (cell.width > 6 ? 1 : 0.5));
        context.fillStyle = worst === undefined ? palette.none : palette.tones.good;
        context.fillRect(cell.x, y, width, height);
        if (worst === undefined || worst === "Ready") continue;
        // At least a third, so that one of a hundred is seen.
        const part = Math.max(0.34, share) * height;
        context.fillStyle = palette.tones[lookOf(states.ofRelease(app, worst)).tone];
        context.fillRect(cell.x, y + height - part, width, part);
      }
  }
}
