/** Whether the windows of a stage are open. Pure. */
import type { StageWindow } from "@flotilla/shared/api";
import { earliest } from "./gate.ts";

/** A window at a time. */
export interface WindowState {
  readonly isOpen: boolean;
  /** When that changes, ms since 1970; undefined: never, or not known. */
  readonly changesAtMs: number | undefined;
}

/** The state of one window, whatever its `deny` says; undefined: its Schedule does not exist or is invalid. */
export type WindowOf = (window: StageWindow) => WindowState | undefined;

/**
 * Open while one of the windows is open, or there are none but with `deny`, and none with `deny` is open. What is not known protects:
 * such a window is closed, and with `deny` open.
 */
export function windowsOf(
  windows: readonly StageWindow[] | undefined,
  windowOf: WindowOf,
): WindowState {
  const states = (windows ?? []).map((window) => {
    const isDeny = window.deny === true;
    return { isDeny, state: windowOf(window) ?? { isOpen: isDeny, changesAtMs: undefined } };
  });
  const allowing = states.filter(({ isDeny }) => !isDeny);
  const isAllowed = allowing.length === 0 || allowing.some(({ state }) => state.isOpen);
  const isDenied = states.some(({ isDeny, state }) => isDeny && state.isOpen);
  return {
    isOpen: isAllowed && !isDenied,
    changesAtMs: earliest(states.map(({ state }) => state.changesAtMs)),
  };
}
