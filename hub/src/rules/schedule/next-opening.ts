/** When conditions hold together next, each of them a function of time: windows that permit, and windows that deny. Pure. */

/** The first time from `fromMs` on at which a condition holds, ms since 1970: `fromMs` itself while it does; undefined: never. */
export type HoldsFrom = (fromMs: number) => number | undefined;

export type Opening =
  | { readonly kind: "opens"; readonly atMs: number }
  /**
   * They do not hold together before `untilMs`, ms since 1970; undefined: never. `isNever`: nor is it to be expected later, because
   * that is more than a year of their changes.
   */
  | { readonly kind: "closed"; readonly untilMs: number | undefined; readonly isNever: boolean };

/** The changes that are followed: two a day for more than a year. */
const mostChanges = 800;

/** Whatever depends on the season has come once by then. */
const longestMs = 390 * 24 * 3_600_000;

/**
 * The next time at which all conditions hold. It jumps from change to change: before the last of those that do not hold does, nothing
 * opens. What repeats each hour is followed for a month only, and is not called never.
 */
export function nextOpening(conditions: readonly HoldsFrom[], fromMs: number): Opening {
  let atMs = fromMs;
  for (let changes = 0; changes < mostChanges; changes += 1) {
    let latestMs = atMs;
    for (const holdsFrom of conditions) {
      const nextMs = holdsFrom(atMs);
      if (nextMs === undefined) return { kind: "closed", untilMs: undefined, isNever: true };
      latestMs = Math.max(latestMs, nextMs);
    }
    if (latestMs === atMs) return { kind: "opens", atMs };
    atMs = latestMs;
  }
  return { kind: "closed", untilMs: atMs, isNever: atMs - fromMs >= longestMs };
}

/** A window, or several, at one time. */
interface State {
  readonly isOpen: boolean;
  /** When that changes, ms since 1970; undefined: never. */
  readonly changesAtMs: number | undefined;
}

/** Holds while one of the windows is open. `stateOf`: a window at a time. */
export function anyOpen<W>(
  windows: readonly W[],
  stateOf: (window: W, atMs: number) => State,
): HoldsFrom {
  return (fromMs) => {
    const states = windows.map((window) => stateOf(window, fromMs));
    if (states.some(({ isOpen }) => isOpen)) return fromMs;
    const opening = states.flatMap(({ changesAtMs }) => changesAtMs ?? []);
    return opening.length === 0 ? undefined : Math.min(...opening);
  };
}

/** Holds while the window is closed. */
export function closed<W>(window: W, stateOf: (window: W, atMs: number) => State): HoldsFrom {
  return (fromMs) => {
    const { isOpen, changesAtMs } = stateOf(window, fromMs);
    return isOpen ? changesAtMs : fromMs;
  };
}
