import type { SeriesRegistry } from "../rules/metrics/series.ts";

/** The text of all series, piece by piece. */
export async function piecesOf(registry: Pick<SeriesRegistry, "text">): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of registry.text()) pieces.push(piece);
  return pieces;
}

/** The lines of the series that the pattern matches. */
export async function seriesIn(
  registry: Pick<SeriesRegistry, "text">,
  pattern: RegExp,
): Promise<readonly string[]> {
  return (await piecesOf(registry))
    .join("")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#") && pattern.test(line));
}
