/** What is told while programs are made available. */
import type { ToolName } from "./tools.ts";

export interface BinaryProgress {
  readonly tool: ToolName;
  readonly phase: "found" | "downloading" | "building" | "waiting" | "ready";
  /** A path, an address, a percentage, or the reason for what comes next. */
  readonly detail: string;
  /** Since this tool's turn began. */
  readonly elapsedMs: number;
  /** While building: how long that takes on two cores with nothing built before. */
  readonly expectedMs?: number;
}

export type ReportProgress = (progress: BinaryProgress) => void;
export type ToolReport = (
  phase: BinaryProgress["phase"],
  detail: string,
  expectedMs?: number,
) => void;

/** Reports for one tool, with the time since now. */
export function toolReporter(tool: ToolName, progress: ReportProgress): ToolReport {
  const began = performance.now();
  return (phase, detail, expectedMs) =>
    progress({
      tool,
      phase,
      detail,
      elapsedMs: Math.round(performance.now() - began),
      ...(expectedMs === undefined ? {} : { expectedMs }),
    });
}

/** Reports a download at each full percent. */
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
