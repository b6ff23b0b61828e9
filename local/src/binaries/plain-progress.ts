/** Prints progress as plain lines. Programs that were found are not mentioned. */
import type { BinaryProgress, ReportProgress } from "./progress.ts";

/** A reporter that writes a line for each phase, and for each quarter of a download. */
export function plainProgress(out: { write(text: string): unknown }): ReportProgress {
  const quarters = new Map<string, number>();
  return (progress) => {
    const line = lineFor(progress, quarters);
    if (line !== undefined) out.write(`${progress.tool}: ${line}\n`);
  };
}

function lineFor(progress: BinaryProgress, quarters: Map<string, number>): string | undefined {
  const { detail, phase } = progress;
  switch (phase) {
    case "found":
      return undefined;
    case "waiting":
      return `waiting, ${detail}`;
    case "building": {
      const why = detail === "" ? "" : ` (${detail})`;
      const expected =
        progress.expectedMs === undefined
          ? ""
          : `, about ${Math.round(progress.expectedMs / 1000)} s on two cores`;
      return `building with Go${expected}${why}`;
    }
    case "downloading": {
      const quarter = Math.floor(Number(/(\d+)%$/.exec(detail)?.[1] ?? 0) / 25);
      if (quarters.get(progress.tool) === quarter) return undefined;
      quarters.set(progress.tool, quarter);
      return `downloading ${detail}`;
    }
    case "ready":
      return `ready after ${(progress.elapsedMs / 1000).toFixed(1)} s`;
  }
}
