/** Whether the windows of a stage are open at a time, when that changes, and which of them keeps it closed. Pure. */
import type { StageWindow } from "@flotilla/shared/api";
import { formatTime } from "@flotilla/shared/time";
import { anyOpen, closed, type HoldsFrom, nextOpening, type Opening } from "../../rules/index.ts";

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
  /** When all windows together are open. */
  readonly opening: Opening;
  readonly problem?: string | undefined;
}

/** When windows together are open next. */
export type OpeningOf = (windows: readonly StageWindow[], atMs: number) => Opening;

/** What windows are judged by. */
export interface WindowFacts {
  readonly windowOf: WindowOf;
  /** As `openingOf` below, whose answers may be kept: it follows hundreds of changes where nothing opens. */
  readonly openingOf: OpeningOf;
}

/**
 * Open while one of the windows is open, or there are none but with `deny`, and none with `deny` is open. What cannot be judged
 * protects: such a window is closed, and with `deny` open.
 */
export function windowsAt(
  windows: readonly StageWindow[] | undefined,
  facts: WindowFacts,
  atMs: number,
): StageWindows {
  const now = together(windows ?? [], facts.windowOf, atMs);
  if (now.closedBy === undefined)
    return { isOpen: true, changesAtMs: now.nextMs, closed: undefined };
  const { name, isDeny, problem } = now.closedBy;
  const opening = facts.openingOf(windows ?? [], atMs);
  return {
    isOpen: false,
    changesAtMs: opening.kind === "opens" ? opening.atMs : opening.untilMs,
    closed: { name, isDeny, problem, opening },
  };
}

/** When the windows of a stage are open together next. */
export function openingOf(
  windows: readonly StageWindow[],
  windowOf: WindowOf,
  atMs: number,
): Opening {
  return nextOpening(conditionsOf(windows, windowOf), atMs);
}

/** What must hold for the windows of a stage to be open. */
export function conditionsOf(
  windows: readonly StageWindow[],
  windowOf: WindowOf,
): readonly HoldsFrom[] {
  const permitting = windows.filter(({ deny }) => deny !== true);
  const denying = windows.filter(({ deny }) => deny === true);
  const stateOf = (window: StageWindow, atMs: number) => known(window, windowOf(window, atMs));
  return [
    ...(permitting.length === 0 ? [] : [anyOpen(permitting, stateOf)]),
    ...denying.map((window) => closed(window, stateOf)),
  ];
}

interface NamedState extends WindowState {
  readonly name: string;
  readonly isDeny: boolean;
}

interface Together {
  readonly closedBy: NamedState | undefined;
  readonly nextMs: number | undefined;
}

/** All of them at a time: what closes them, if anything does, and when the first of them changes. */
function together(windows: readonly StageWindow[], windowOf: WindowOf, atMs: number): Together {
  const states = windows.map((window): NamedState => {
    const isDeny = window.deny === true;
    return { ...known(window, windowOf(window, atMs)), name: windowName(window), isDeny };
  });
  const denying = states.find(({ isDeny, isOpen }) => isDeny && isOpen);
  const allowing = states.filter(({ isDeny }) => !isDeny);
  const isAllowed = allowing.length === 0 || allowing.some(({ isOpen }) => isOpen);
  return {
    closedBy: denying ?? (isAllowed ? undefined : firstToOpen(allowing)),
    nextMs: earliestOf(states),
  };
}

/** What cannot be judged stays as it protects. */
function known({ deny }: StageWindow, state: WindowState): WindowState {
  return state.problem === undefined
    ? state
    : { ...state, isOpen: deny === true, changesAtMs: undefined };
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
export function closedWindowText({ name, isDeny, opening, problem }: ClosedWindow): string {
  const opens = opening.kind === "opens" ? formatTime(opening.atMs) : undefined;
  if (problem !== undefined)
    return `${problem}${opens === undefined ? "" : `; another window opens at ${opens}`}`;
  if (opening.kind === "closed") return neverText({ name, isDeny }, opening);
  return isDeny
    ? `window ${name} denies changes until ${opens}`
    : `window ${name} opens at ${opens}`;
}

function neverText(
  { name, isDeny }: Pick<ClosedWindow, "name" | "isDeny">,
  { untilMs, isNever }: Extract<Opening, { kind: "closed" }>,
): string {
  if (untilMs === undefined)
    return isDeny
      ? `window ${name} denies changes now, and no other opens after it: change the windows`
      : `window ${name} does not open any more: change it`;
  if (!isNever)
    return `window ${name} ${isDeny ? "denies changes" : "is closed"}, and until ${formatTime(untilMs)} one with deny is open whenever another one permits changes: change one of them`;
  return `window ${name} ${isDeny ? "denies changes" : "is closed"}, and whenever another one permits changes one with deny is open, too: the windows are never open together, change one of them`;
}
