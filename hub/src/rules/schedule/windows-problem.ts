/** Why the windows of a stage cannot be used, as a sentence with the field and what to change. Pure. */
import { maxWindows, type StageWindow } from "@flotilla/shared/api";
import { type Window, windowAt } from "@flotilla/shared/quartz";
import { type ParsedWindow, parseInline, startsAfterMs } from "./inline-windows.ts";
import { anyOpen, closed, nextOpening } from "./next-opening.ts";

/** Parsing takes milliseconds, and objects of a store are replaced, never changed. */
const known = new WeakMap<readonly StageWindow[], { readonly problem: string | undefined }>();

/**
 * The first thing that is wrong; undefined: they can be used. A window protects, so that one which cannot be judged is refused. Whether a
 * Schedule exists, and when it is open, is not judged here: it may be created or edited later, and until then the rollout says what
 * it waits for.
 */
export function windowsProblem(windows: readonly StageWindow[] | undefined): string | undefined {
  if (windows === undefined) return undefined;
  const found = known.get(windows) ?? { problem: problemOf(windows) };
  known.set(windows, found);
  return found.problem;
}

function problemOf(windows: readonly StageWindow[]): string | undefined {
  if (windows.length > maxWindows)
    return `windows has ${windows.length} entries, more than the limit of ${maxWindows}: join some in one Schedule`;
  const parsed = windows.map((window) => ({
    window,
    own: window.schedule ? {} : parseInline(window),
  }));
  for (const [index, { window, own }] of parsed.entries()) {
    const problem = windowProblem(window, own);
    if (problem !== undefined) return `windows[${index}]${problem}`;
  }
  return togetherProblem(parsed);
}

function windowProblem(
  { schedule, cron, duration, location }: StageWindow,
  { problem }: ParsedWindow,
): string | undefined {
  if (schedule && cron) return " has both schedule and cron: set one of them";
  if (!schedule && !cron) return " has neither schedule nor cron: set one of them";
  if (!schedule)
    return problem === undefined ? undefined : ` cannot be used: ${problem}; correct it`;
  if (duration) return ".duration is set beside schedule, and the Schedule has its own: remove it";
  return location
    ? ".location is set beside schedule, and the Schedule has its own: remove it"
    : undefined;
}

/**
 * Each can be open, and all together never are, because of those with `deny`. A Schedule counts as open where it permits and as closed
 * where it denies, unless it does both.
 */
function togetherProblem(
  windows: readonly { readonly window: StageWindow; readonly own: ParsedWindow }[],
): string | undefined {
  const denying = windows.filter(({ window }) => window.deny === true);
  if (denying.length === 0) return undefined;
  const denied = new Set(denying.flatMap(({ window }) => window.schedule ?? []));
  const permitting = windows.filter(({ window }) => window.deny !== true);
  const left = permitting.filter(({ window }) => !denied.has(window.schedule ?? ""));
  const isAlwaysPermitted =
    permitting.length === 0 || left.some(({ window }) => window.schedule !== undefined);
  const parsed = (some: typeof windows) => some.flatMap(({ own }) => own.window ?? []);
  const conditions = [
    ...(isAlwaysPermitted ? [] : [anyOpen(parsed(left), stateOf)]),
    ...parsed(denying).map((window) => closed(window, stateOf)),
  ];
  const opening = nextOpening(conditions, startsAfterMs);
  if (opening.kind === "opens" || !opening.isNever) return undefined;
  return permitting.length === 0
    ? "windows are never open: at any time one of them denies changes; shorten or remove one"
    : "windows are never open: whenever one of them permits changes, one with deny is open, too; change one of them";
}

function stateOf(window: Window, atMs: number) {
  const { isOpen, changesAtMs } = windowAt(window, atMs);
  return { isOpen, changesAtMs };
}
