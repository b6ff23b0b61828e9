/** A log that keeps what was decided about releases. */
import { type Log, lineLog } from "@flotilla/shared/log";

export interface LoggedDecisions {
  readonly log: Log;
  /** All but waiting and doing nothing, as `outOfSync (ChartChanged): blocked by db`, the oldest first. */
  readonly decisions: readonly string[];
  /** With their levels, all of them, as `debug inSync: none`. */
  readonly lines: readonly string[];
}

interface Line {
  readonly level: string;
  readonly state: string;
  readonly reasons: string;
  readonly action: string;
  readonly waitsFor?: string;
}

const idle = ["none", "await", "wait"];

export function createLoggedDecisions(): LoggedDecisions {
  const decisions: string[] = [];
  const lines: string[] = [];
  function write(json: string): void {
    if (!json.includes("release decided")) return;
    const { level, state, reasons, action, waitsFor } = JSON.parse(json) as Line;
    const why = reasons === "" ? "" : ` (${reasons})`;
    const by = waitsFor === undefined ? "" : ` by ${waitsFor}`;
    const decision = `${state}${why}: ${action}${by}`;
    lines.push(`${level} ${decision}`);
    if (!idle.includes(action)) decisions.push(decision);
  }
  return { log: lineLog({ name: "agent", level: "debug", write }), decisions, lines };
}
