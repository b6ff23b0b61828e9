/** Whether the windows of a stage are open at a time, when that changes, and which of them keeps it closed. Pure. */
import type { StageWindow } from "@flotilla/shared/api";
import { formatTime } from "@flotilla/shared/time";

/** A window at a time. */
export interface WindowState {
  readonly isOpen: boolean;
  /** When that changes, ms since 1970; undefined: never, or not known. */
  readonly changesAtMs: number | undefined;
  /** Why it cannot be judged, as a sentence: its Schedule does not exist or is invalid. `isOpen` counts for nothing then. */
  readonly problem?: string;
}

/** The state of one window at a time, ms since 1970, whatever its `deny` says. */
export type WindowOf = (window: StageWindow, atMs: number) => WindowState;

/** The windows of a stage together. */
export interface StageWindows extends Omit<WindowState, "problem"> {
  /** Why nothing is promoted now; undefined while they are open. */
  readonly closed: ClosedWindow | undefined;
}

/** A window that keeps something closed. */
export interface ClosedWindow {
  /** The Schedule, or the expression. */
  readonly name: string;
  /** It is open, and denies. */
  readonly isDeny: boolean;
  /** When all windows together are open next, ms since 1970; undefined: never, or not within the edges that are looked at. */
  readonly opensAtMs: number | undefined;
  readonly problem?: string | undefined;
}

/** Edges of single windows that are followed to find the next opening: more than an hourly one has in a week. */
const mostEdges = 400;

/**
 * Open while one of the windows is open, or there are none but with `deny`, and none with `deny` is open. What cannot be judged
 * protects: such a window is closed, and with `deny` open.
 */
export function windowsAt(
  windows: readonly StageWindow[] | undefined,
  windowOf: WindowOf,
  atMs: number,
): StageWindows {
  const now = together(windows ?? [], windowOf, atMs);
  if (now.closedBy === undefined)
    return { isOpen: true, changesAtMs: now.nextMs, closed: undefined };
  const { name, isDeny, problem } = now.closedBy;
  const closed = { name, isDeny, problem };
  let nextMs = now.isForGood ? undefined : now.nextMs;
  for (let edges = 0; nextMs !== undefined && edges < mostEdges; edges += 1) {
    const then = together(windows ?? [], windowOf, nextMs);
    if (then.closedBy === undefined)
      return { isOpen: false, changesAtMs: nextMs, closed: { ...closed, opensAtMs: nextMs } };
    nextMs = then.nextMs;
  }
  return { isOpen: false, changesAtMs: nextMs, closed: { ...closed, opensAtMs: undefined } };
}

interface NamedState extends WindowState {
  readonly name: string;
  readonly isDeny: boolean;
}

interface Together {
  readonly closedBy: NamedState | undefined;
  /** Time alone opens them no more. */
  readonly isForGood: boolean;
  readonly nextMs: number | undefined;
}

/** All of them at a time: what closes them, if anything does, and when the first of them changes. */
function together(windows: readonly StageWindow[], windowOf: WindowOf, atMs: number): Together {
  const states = windows.map((window): NamedState => {
    const isDeny = window.deny === true;
    const state = windowOf(window, atMs);
    const known =
      state.problem === undefined ? state : { ...state, isOpen: isDeny, changesAtMs: undefined };
    return { ...known, name: windowName(window), isDeny };
  });
  const denying = states.find(({ isDeny, isOpen }) => isDeny && isOpen);
  const allowing = states.filter(({ isDeny }) => !isDeny);
  const isAllowed = allowing.length === 0 || allowing.some(({ isOpen }) => isOpen);
  return {
    closedBy: denying ?? (isAllowed ? undefined : firstToOpen(allowing)),
    isForGood:
      states.some(
        ({ isDeny, isOpen, changesAtMs }) => isDeny && isOpen && changesAtMs === undefined,
      ) ||
      (!isAllowed && earliestOf(allowing) === undefined),
    nextMs: earliestOf(states),
  };
}

/** One that cannot be judged is named, because somebody has to correct it; else the one that opens first. */
function firstToOpen(allowing: readonly NamedState[]): NamedState | undefined {
  const wrong = allowing.find(({ problem }) => problem !== undefined);
  const opensAtMs = earliestOf(allowing);
  return wrong ?? allowing.find(({ changesAtMs }) => changesAtMs === opensAtMs) ?? allowing[0];
}

function earliestOf(states: readonly WindowState[]): number | undefined {
  const known = states.flatMap(({ changesAtMs }) => changesAtMs ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The name of its Schedule, or its expression. */
export function windowName({ schedule, cron, location }: StageWindow): string {
  if (schedule !== undefined) return schedule;
  return location ? `${cron} (${location})` : (cron ?? "");
}

/** As in `window nights opens at 2026-12-01T22:00:00Z`. */
export function closedWindowText({ name, isDeny, opensAtMs, problem }: ClosedWindow): string {
  const opens = opensAtMs === undefined ? undefined : formatTime(opensAtMs);
  if (problem !== undefined)
    return `${problem}${opens === undefined ? "" : `; another window opens at ${opens}`}`;
  if (isDeny)
    return `window ${name} denies changes ${opens === undefined ? "now, and no other opens after it" : `until ${opens}`}`;
  return opens === undefined
    ? `window ${name} does not open any more`
    : `window ${name} opens at ${opens}`;
}
