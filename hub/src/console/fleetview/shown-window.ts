/** A window in the days around now: when it is open. Pure. */
import type { Schedule, StageWindow } from "@flotilla/shared/api";
import type { ShownWindow } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import {
  nextStarts,
  parseWindow,
  quartzErrors,
  type Window,
  windowAt,
} from "@flotilla/shared/quartz";
import { formatTimeMs } from "@flotilla/shared/time";

const dayMs = 86_400_000;
/** One that opens each hour is open 192 times in eight days. */
const maxSpans = 200;

type Text = Pick<
  ShownWindow,
  "name" | "schedule" | "deny" | "expression" | "duration" | "location"
>;

export function shownSchedule({ metadata, spec, status }: Schedule, nowMs: number): ShownWindow {
  const { schedule, duration, location } = spec;
  const text = textOf({ name: metadata.name, schedule: true, deny: false }, schedule, {
    duration,
    location,
  });
  const clusters = {
    count: status?.clusterCount ?? 0,
    first: [...(status?.matchingClusters ?? [])],
  };
  return { ...shown(text, nowMs), clusters };
}

/** Undefined for a window that names a Schedule. */
export function shownStageWindow(window: StageWindow, nowMs: number): ShownWindow | undefined {
  const { cron, duration, location, deny } = window;
  if (!cron) return undefined;
  const named = { name: cron, schedule: false, deny: deny === true };
  return shown(textOf(named, cron, { duration, location }), nowMs);
}

function textOf(
  named: Pick<Text, "name" | "schedule" | "deny">,
  expression: string | null | undefined,
  more: {
    readonly duration: string | null | undefined;
    readonly location: string | null | undefined;
  },
): Text {
  const [duration, location] = [more.duration ?? "", more.location || "UTC"];
  return { ...named, expression: expression ?? "", duration, location };
}

function shown(text: Text, nowMs: number): ShownWindow {
  const { expression: schedule, duration, location } = text;
  try {
    const window = parseWindow({ schedule, duration, location });
    const { isOpen, changesAtMs } = windowAt(window, nowMs);
    const { spans, isCut } = spansOf(window, nowMs);
    const changesAt = changesAtMs === undefined ? {} : { changesAt: formatTimeMs(changesAtMs) };
    return { ...text, isOpen, ...changesAt, spans, isCut };
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== quartzErrors.SCHEDULE_INVALID.code)
      throw thrown;
    return { ...text, isOpen: false, problem: thrown.message, spans: [], isCut: false };
  }
}

function spansOf({ expression, zone, durationMs }: Window, nowMs: number) {
  const [fromMs, toMs] = [nowMs - dayMs, nowMs + 8 * dayMs];
  const afterMs = fromMs - durationMs;
  const starts = nextStarts(expression, zone, { afterMs, count: maxSpans + 1 });
  const shownStarts = starts.slice(0, maxSpans).filter((startMs) => startMs < toMs);
  return {
    isCut: starts.length > maxSpans && (starts.at(-1) ?? toMs) < toMs,
    spans: shownStarts.map((startMs) => ({
      from: formatTimeMs(startMs),
      to: formatTimeMs(startMs + durationMs),
    })),
  };
}
