/** What the tiles mean: each drawn as on the map, with its words. */
import { useEffect, useRef } from "react";
import { usePalette } from "../canvas/index.ts";
import type { Tone } from "../state/index.ts";
import { drawTile } from "./draw.ts";

export interface LegendEntry {
  readonly tone: Tone;
  readonly text: string;
}

export function Legend({ entries }: { readonly entries: readonly LegendEntry[] }) {
  return (
    <ul className="map-legend">
      {entries.map(({ tone, text }) => (
        <li key={text}>
          <Sample tone={tone} /> {text}
        </li>
      ))}
    </ul>
  );
}

const size = 14;

function Sample({ tone }: Pick<LegendEntry, "tone">) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = usePalette();
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (canvas.current === null || !context) return;
    canvas.current.width = size * devicePixelRatio;
    canvas.current.height = size * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
    drawTile({ context, palette, pitch: size }, { column: 0, x: 0, y: 0, tone });
  }, [tone, palette]);
  return (
    <span aria-hidden="true">
      <canvas ref={canvas} />
    </span>
  );
}
