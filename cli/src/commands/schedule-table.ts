/** When windows open and close, as tables, and Schedules with their state. Pure. */
import type { Schedule } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import {
  localTimeMs,
  nextStarts,
  parseQuartz,
  parseWindow,
  type QuartzExpression,
  type WindowText,
  windowAt,
  type Zone,
  zoneOf,
} from "@flotilla/shared/quartz";
import { oneLine } from "@flotilla/shared/text";
import { formatTime } from "@flotilla/shared/time";
import { formatTable } from "./format-table.ts";
import { printable } from "./printable.ts";

/** A window of which the duration may be left out. */
interface Starts {
  readonly expression: QuartzExpression;
  readonly zone: Zone;
  readonly durationMs?: number;
}

/**
 * The next starts, in the zone of the window and in UTC, and the ends where there is a duration. Throws SCHEDULE_INVALID with
 * what is wrong.
 */
export function startsTable(
  text: WindowText,
  { nowMs, count }: { readonly nowMs: number; readonly count: number },
): string {
  const { expression, zone, durationMs } = startsOf(text);
  const starts = nextStarts(expression, zone, { afterMs: nowMs, count });
  if (starts.length === 0) return "it does not start any more\n";
  return formatTable(
    [
      `OPENS IN ${zone.name}`,
      "OPENS IN UTC",
      ...(durationMs === undefined ? [] : ["CLOSES IN UTC"]),
    ],
    starts.map((start) => [
      zonedTime(zone, start),
      formatTime(start),
      ...(durationMs === undefined ? [] : [formatTime(start + durationMs)]),
    ]),
  );
}

/** One line for each Schedule, with its state at a time as its spec says, which the hub writes into its status. */
export function schedulesTable(list: readonly Schedule[], nowMs: number): string {
  return formatTable(
    ["SCHEDULE", "ACTIVE", "CHANGES AT", "NEXT START", "IN ITS ZONE", "CLUSTERS", "MESSAGE"],
    list.map((schedule) => {
      const { metadata, status } = schedule;
      const count = String(status?.clusterCount ?? "");
      const state = stateOf(schedule, nowMs);
      const ready = findCondition(status?.conditions, "Ready")?.message ?? "";
      if (typeof state === "string") return [metadata.name, "invalid", "", "", "", count, state];
      const { isOpen, changesAtMs, nextStartMs, zone } = state;
      return [
        metadata.name,
        isOpen ? "yes" : "no",
        changesAtMs === undefined ? "never" : formatTime(changesAtMs),
        nextStartMs === undefined ? "none" : formatTime(nextStartMs),
        nextStartMs === undefined ? "" : `${zonedTime(zone, nextStartMs)} ${zone.name}`,
        count,
        oneLine(printable(ready)),
      ];
    }),
  );
}

/** `2026-03-29T03:30:00+02:00`: a time as the clocks of a zone show it. */
export function zonedTime(zone: Zone, atMs: number): string {
  const offsetMinutes = Math.round(zone.offsetMs(atMs) / 60_000);
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60];
  const two = (part: number) => String(part).padStart(2, "0");
  const local = new Date(localTimeMs(zone, atMs)).toISOString().slice(0, 19);
  return `${local}${offsetMinutes < 0 ? "-" : "+"}${two(hours)}:${two(minutes)}`;
}

function startsOf(text: WindowText): Starts {
  if (text.duration) return parseWindow(text);
  return { expression: parseQuartz(text.schedule ?? ""), zone: zoneOf(text.location) };
}

/** The problem of an invalid Schedule is a text. */
function stateOf({ spec }: Schedule, nowMs: number) {
  try {
    const window = parseWindow(spec);
    return { ...windowAt(window, nowMs), zone: window.zone };
  } catch (thrown) {
    return oneLine(printable(AppError.from(thrown).message));
  }
}
