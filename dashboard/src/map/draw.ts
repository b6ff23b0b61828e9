/** Draws tiles on a canvas: by the colour of a tone, and by a shape, so that they differ without colours, too. */
import type { Palette } from "../canvas/index.ts";
import type { Tone } from "../state/index.ts";
import type { Tile } from "./layout.ts";

export interface TileDrawing extends Tile {
  /** Undefined: nothing is there. */
  readonly tone: Tone | undefined;
}

/** How far a change has faded away: 0 when it begins, 1 when it has ended. */
export type Progress = number;

export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly palette: Palette;
  /** From one tile to the next. */
  readonly pitch: number;
}

export function drawTile(brush: Brush, { x, y, tone }: TileDrawing): void {
  const { context, palette, pitch } = brush;
  const size = pitch - (pitch > 10 ? 2 : 1);
  context.clearRect(x, y, pitch, pitch);
  context.fillStyle = tone === undefined ? palette.none : palette.tones[tone];
  context.fillRect(x, y, size, size);
  context.fillStyle = palette.surface;
  const inner = Math.max(2, Math.round(size / 3));
  const middle = (size - inner) / 2;
  switch (tone) {
    case "bad":
      context.fillRect(x + middle, y + middle, inner, inner);
      break;
    case "warn":
      context.fillRect(x + 1, y + 1, size - 2, Math.floor(size / 2) - 1);
      break;
    case "off":
      context.fillRect(x + 1, y + 1, size - 2, size - 2);
      break;
    case "busy":
      context.fillRect(x + inner, y + 1, size - inner - 1, size - inner - 1);
      break;
    case "good":
    case undefined:
  }
}

/** A change: the tile is drawn brighter, and fades back. */
export function drawChange(brush: Brush, tile: TileDrawing, progress: Progress): void {
  drawTile(brush, tile);
  const { context, palette, pitch } = brush;
  const size = pitch - (pitch > 10 ? 2 : 1);
  context.globalAlpha = 1 - progress;
  context.fillStyle = palette.tones.busy;
  context.fillRect(tile.x, tile.y, size, size);
  context.globalAlpha = 1;
}
