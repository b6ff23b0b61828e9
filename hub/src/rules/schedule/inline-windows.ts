/** Windows that are written where they are used, as in a stage of a rollout: an expression with a duration, a zone and `deny`. Pure. */
import { AppError } from "@flotilla/shared/errors";
import { parseWindow, quartzErrors, type Window, windowAt } from "@flotilla/shared/quartz";

/** Absent, null and "" are the same. */
export interface InlineWindow {
  /** An expression as in a Schedule. */
  readonly cron?: string | null | undefined;
  readonly duration?: string | null | undefined;
  /** A time zone; absent: UTC. */
  readonly location?: string | null | undefined;
  /** Nothing is changed while this one is open. */
  readonly deny?: boolean | null | undefined;
}

/** Windows together at one time; times are ms since 1970. */
export interface InlineWindowState {
  readonly isOpen: boolean;
  /** When it closes, or opens; undefined: never. */
  readonly changesAtMs: number | undefined;
  /** What is wrong with the first invalid one, as a sentence. */
  readonly problem?: string;
}

export interface InlineWindows {
  /**
   * The state of a list: open while one of the windows is, or all of them deny, and none that denies is open. An invalid one
   * closes it for good.
   */
  windowsAt(windows: readonly InlineWindow[], atMs: number): InlineWindowState;
  /** One window, whatever its `deny` says; undefined: it is invalid. */
  windowAt(
    window: InlineWindow,
    atMs: number,
  ): Pick<InlineWindowState, "isOpen" | "changesAtMs"> | undefined;
}

/** Parsed windows that are kept, the newest ones. */
const mostKept = 1_000;

/** Changes of single windows that are followed until the list changes: more than an hourly one has in a month. */
const mostChanges = 1_000;

interface Parsed {
  readonly window?: Window;
  readonly problem?: string;
}

/** Keeps what it has parsed, because that takes milliseconds. */
export function createInlineWindows(): InlineWindows {
  const parsed = new Map<string, Parsed>();

  function parse({ cron, duration, location }: InlineWindow): Parsed {
    const key = JSON.stringify([cron, duration, location]);
    const known = parsed.get(key) ?? parseInline({ cron, duration, location });
    parsed.delete(key);
    parsed.set(key, known);
    for (const oldest of parsed.keys()) {
      if (parsed.size <= mostKept) break;
      parsed.delete(oldest);
    }
    return known;
  }

  return {
    windowAt(inline, atMs) {
      const { window } = parse(inline);
      if (window === undefined) return undefined;
      const { isOpen, changesAtMs } = windowAt(window, atMs);
      return { isOpen, changesAtMs };
    },
    windowsAt(windows, atMs) {
      const each = windows.map((inline) => ({ ...parse(inline), isDeny: inline.deny === true }));
      const problem = each.find((one) => one.problem !== undefined)?.problem;
      if (problem !== undefined) return { isOpen: false, changesAtMs: undefined, problem };
      const known = each.flatMap(({ window, isDeny }) => (window ? [{ window, isDeny }] : []));
      const { isOpen, nextMs } = together(known, atMs);
      let next = nextMs;
      for (let steps = 0; next !== undefined && steps < mostChanges; steps += 1) {
        const then = together(known, next);
        if (then.isOpen !== isOpen) return { isOpen, changesAtMs: next };
        next = then.nextMs;
      }
      return { isOpen, changesAtMs: undefined };
    },
  };
}

function parseInline({ cron, duration, location }: InlineWindow): Parsed {
  try {
    return { window: parseWindow({ schedule: cron, duration, location }) };
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== quartzErrors.SCHEDULE_INVALID.code)
      throw thrown;
    return { problem: thrown.message };
  }
}

/** All of them at a time, and when the first of them changes. */
function together(
  windows: readonly { readonly window: Window; readonly isDeny: boolean }[],
  atMs: number,
): { readonly isOpen: boolean; readonly nextMs: number | undefined } {
  const states = windows.map(({ window, isDeny }) => ({ isDeny, ...windowAt(window, atMs) }));
  const allowing = states.filter(({ isDeny }) => !isDeny);
  const isAllowed = allowing.length === 0 || allowing.some(({ isOpen }) => isOpen);
  const isDenied = states.some(({ isDeny, isOpen }) => isDeny && isOpen);
  const changes = states.flatMap(({ changesAtMs }) => changesAtMs ?? []);
  return {
    isOpen: isAllowed && !isDenied,
    nextMs: changes.length === 0 ? undefined : Math.min(...changes),
  };
}
