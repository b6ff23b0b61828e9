import type { SeriesRegistry } from "../rules/metrics/series.ts";

/** The text of all series, piece by piece. */
export async function piecesOf(registry: Pick<SeriesRegistry, "text">): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of registry.text()) pieces.push(piece);
  return pieces;
}
