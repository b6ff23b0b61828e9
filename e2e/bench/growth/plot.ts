/** How time, processor and memory grow with the number of clusters. Pure. */
import { drawPanels, type Line, type LineStyle, type Panel } from "../measure/plot.ts";
import { processNames } from "../rollouts/processes.ts";
import type { OneSize } from "./one-size.ts";

const styles: readonly LineStyle[] = ["ours", "bare", "second", "third"];

/** `sizes`: from few to many clusters. */
export function drawGrowth(sizes: readonly OneSize[]): string {
  const line = (name: string, style: LineStyle, read: (size: OneSize) => number): Line => ({
    name,
    style,
    points: sizes.map((size) => [size.clusters, read(size)] as const),
  });
  const panel = (title: string, y: string, lines: readonly Line[]): Panel => ({
    ...{ title, y, lines },
    x: "clusters",
    scale: "logarithmic",
  });
  const ofProcesses = (read: (size: OneSize, name: (typeof processNames)[number]) => number) =>
    processNames.map((name, index) =>
      line(name, styles[index] ?? "ours", (size) => read(size, name)),
    );
  return drawPanels([
    panel("A change, until all clusters are ready", "s", [
      line("all at once", "ours", ({ all }) => all.ms / 1_000),
      line("in four stages", "second", ({ staged }) => staged.ms / 1_000),
      line("the writes alone", "bare", ({ bareMs }) => bareMs / 1_000),
    ]),
    panel(
      "Processor of a staged change",
      "s",
      // A process that has used less than a hundredth of a second has used none, as far as Linux counts.
      ofProcesses(({ staged }, name) => Math.max(staged.processor[name], 10) / 1_000),
    ),
    panel(
      "Memory (PSS)",
      "MB",
      ofProcesses(({ memory }, name) => memory[name]),
    ),
  ]);
}
