/**
 * Time zones by their IANA name: the offset from UTC at a time, and which offset counts on a local day. Local times of a night
 * when clocks change are read as the offset after the change from the time on that the clocks show after it, and as the
 * offset before it until then. So a local time that does not exist is as much later as clocks are put forward, and of
 * one that exists twice the second counts.
 */
import { quote, scheduleInvalid } from "./errors.ts";

export interface Zone {
  /** As in the Schedule, `UTC` where there is none. */
  readonly name: string;
  /** What is to be added to UTC for local time, in milliseconds, at a time in milliseconds since 1970. */
  offsetMs(atMs: number): number;
}

/** A part of a local day with one offset; local times are milliseconds as if the zone were UTC. `to` is not part of it. */
export interface LocalSpan {
  readonly from: number;
  readonly to: number;
  readonly offsetMs: number;
}

const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Zones are between 12 hours behind and 14 hours ahead of UTC; 15 also spans the change itself. */
const mostOffsetMs = 15 * hourMs;

/** Go takes it for the zone of the container, which is UTC in Fleet's image. */
const utcNames: readonly string[] = ["", "UTC", "Local"];

/** Throws SCHEDULE_INVALID. Absent and empty: UTC. */
export function zoneOf(location: string | null | undefined): Zone {
  const name = location ?? "";
  if (utcNames.includes(name)) return { name: "UTC", offsetMs: () => 0 };
  const format = formatOf(name);
  if (format === undefined)
    throw scheduleInvalid(
      `the location ${quote(name)} is not the name of a time zone, such as Europe/Berlin or UTC`,
    );
  return { name, offsetMs: (atMs) => localOf(format, atMs) - floorTo(atMs, secondMs) };
}

/** The local time of a zone at a time, in milliseconds as if the zone were UTC. */
export function localTimeMs(zone: Zone, atMs: number): number {
  return floorTo(atMs, secondMs) + zone.offsetMs(atMs);
}

/** The parts of the local day that begins at `localDay`, in order: one on most days, two when clocks change on it. */
export function spansOf(zone: Zone, localDay: number): readonly LocalSpan[] {
  const end = localDay + dayMs;
  const before = zone.offsetMs(localDay - mostOffsetMs);
  const after = zone.offsetMs(end + mostOffsetMs);
  if (before === after) return [{ from: localDay, to: end, offsetMs: before }];
  const changed = changeIn(zone, localDay - mostOffsetMs, end + mostOffsetMs) + after;
  const spans = [
    { from: localDay, to: Math.min(end, changed), offsetMs: before },
    { from: Math.max(localDay, changed), to: end, offsetMs: after },
  ];
  return spans.filter(({ from, to }) => from < to);
}

/** When the offset changes between two times, to the second; clocks change once at most within three days. */
function changeIn(zone: Zone, fromMs: number, toMs: number): number {
  const before = zone.offsetMs(fromMs);
  let [low, high] = [fromMs, toMs];
  while (high - low > secondMs) {
    const middle = floorTo((low + high) / 2, secondMs);
    if (zone.offsetMs(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** Undefined for no zone, and for an offset such as `+01:00`, which Go does not know. */
function formatOf(name: string): Intl.DateTimeFormat | undefined {
  if (!/^[A-Za-z][\w+\-/]{0,63}$/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    // RangeError: no such zone.
    return undefined;
  }
}

function localOf(format: Intl.DateTimeFormat, atMs: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of format.formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function floorTo(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}
