/** Windows that are written where they are used, as in a stage of a rollout: an expression with a duration, a zone and `deny`. Pure. */
import { AppError } from "@flotilla/shared/errors";
import {
  nextStarts,
  parseWindow,
  quartzErrors,
  type Window,
  windowAt,
} from "@flotilla/shared/quartz";

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

/** A window at one time. */
export interface InlineWindowState {
  readonly isOpen: boolean;
  /** When it closes, or opens, ms since 1970; undefined: never. */
  readonly changesAtMs: number | undefined;
}

export interface InlineWindows {
  /** One window, whatever its `deny` says; undefined: it is invalid. */
  windowAt(window: InlineWindow, atMs: number): InlineWindowState | undefined;
  /** What is wrong with one window, as a sentence; undefined: it can be used. */
  problemOf(window: InlineWindow): string | undefined;
}

/** Parsed windows that are kept, the newest ones. */
const mostKept = 1_000;

/** Exactly one of them is there. */
export interface ParsedWindow {
  readonly window?: Window;
  readonly problem?: string;
}

/** Keeps what it has parsed, because that takes milliseconds. */
export function createInlineWindows(): InlineWindows {
  const parsed = new Map<string, ParsedWindow>();

  function parse({ cron, duration, location }: InlineWindow): ParsedWindow {
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
    problemOf: (inline) => parse(inline).problem,
    windowAt(inline, atMs) {
      const { window } = parse(inline);
      if (window === undefined) return undefined;
      const { isOpen, changesAtMs } = windowAt(window, atMs);
      return { isOpen, changesAtMs };
    },
  };
}

/** Starts are looked for from here on, so that the result depends on no clock. */
export const startsAfterMs = Date.UTC(2024, 0, 1) - 1;

/** A window, or what is wrong with it, as a sentence. */
export function parseInline({ cron, duration, location }: InlineWindow): ParsedWindow {
  try {
    const window = parseWindow({ schedule: cron, duration, location });
    const [first] = nextStarts(window.expression, window.zone, {
      afterMs: startsAfterMs,
      count: 1,
    });
    return first === undefined
      ? { problem: `${JSON.stringify(cron)} has no start, so that the window is never open` }
      : { window };
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== quartzErrors.SCHEDULE_INVALID.code)
      throw thrown;
    return { problem: thrown.message };
  }
}
