/** Why the windows of a stage cannot be used, as a sentence with the field and what to change. Pure. */
import { maxWindows, type StageWindow } from "@flotilla/shared/api";
import { inlineWindowProblem } from "./inline-windows.ts";

/**
 * The first thing that is wrong; undefined: they can be used. A window protects, so that one which cannot be judged is refused. Whether a
 * Schedule exists is not judged here: it may be created later, and keeps the stage closed until then.
 */
export function windowsProblem(windows: readonly StageWindow[] | undefined): string | undefined {
  if (windows === undefined) return undefined;
  if (windows.length > maxWindows)
    return `windows has ${windows.length} entries, more than the limit of ${maxWindows}: join some in one Schedule`;
  for (const [index, window] of windows.entries()) {
    const problem = windowProblem(window);
    if (problem !== undefined) return `windows[${index}]${problem}`;
  }
  return undefined;
}

function windowProblem(window: StageWindow): string | undefined {
  const { schedule, cron, duration, location } = window;
  if (schedule && cron) return " has both schedule and cron: set one of them";
  if (!schedule && !cron) return " has neither schedule nor cron: set one of them";
  if (!schedule) {
    const problem = inlineWindowProblem(window);
    return problem === undefined ? undefined : ` cannot be used: ${problem}; correct it`;
  }
  if (duration) return ".duration is set beside schedule, and is that of the Schedule: remove it";
  return location
    ? ".location is set beside schedule, and is that of the Schedule: remove it"
    : undefined;
}
