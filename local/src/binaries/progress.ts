/** Progress of the preparation of programs. */
import type { ToolName } from "./tools.ts";

export interface BinaryProgress {
  readonly tool: ToolName;
  readonly phase: "found" | "downloading" | "building" | "waiting" | "ready";
  /** A path, a URL with a percentage, or why the program is built. */
  readonly detail: string;
  /** Since the work on this tool started. */
  readonly elapsedMs: number;
  /** The duration of a build on two cores with an empty build cache. */
  readonly expectedMs?: number;
}

export type ReportProgress = (progress: BinaryProgress) => void;
export type ToolReport = (
  phase: BinaryProgress["phase"],
  detail: string,
  expectedMs?: number,
) => void;

/** A reporter for one tool that adds the elapsed time. */
export function toolReporter(tool: ToolName, progress: ReportProgress): ToolReport {
  const startedMs = performance.now();
  return (phase, detail, expectedMs) =>
    progress({
      tool,
      phase,
      detail,
      elapsedMs: Math.round(performance.now() - startedMs),
      ...(expectedMs === undefined ? {} : { expectedMs }),
    });
}

/** Reports a download once for each percent. */
export function percentReporter(
  report: ToolReport,
  address: string,
): (received: number, total: number | undefined) => void {
  let last = -1;
  return (received, total) => {
    const percent = total === undefined || total === 0 ? 0 : Math.floor((received / total) * 100);
    if (percent === last) return;
    last = percent;
    report("downloading", `${address} ${percent}%`);
  };
}
