/**
 * Windows: an expression with a duration and a time zone. A window is a function of time: it is open at a time if it started
 * at most its duration ago. So nothing has to be remembered, and nothing is lost by a restart. Pure.
 */
import { formatGoDuration, parseGoDuration } from "../../runtime/time/index.ts";
import { quote, scheduleInvalid } from "./errors.ts";
import { parseQuartz, type QuartzExpression } from "./expression.ts";
import { nextStart, nextStarts } from "./next-start.ts";
import { type Zone, zoneOf } from "./zone.ts";

/** What a user writes; absent, null and "" are the same. */
export interface WindowText {
  /** An expression as go-quartz reads it. */
  readonly schedule?: string | null | undefined;
  /** As Go writes it, such as `4h`. */
  readonly duration?: string | null | undefined;
  /** The name of a time zone; absent: UTC. */
  readonly location?: string | null | undefined;
}

export interface Window {
  readonly expression: QuartzExpression;
  readonly zone: Zone;
  readonly durationMs: number;
}

/** A window at one time; times are milliseconds since 1970. */
export interface WindowState {
  readonly isOpen: boolean;
  /** When it opens or closes next; absent: never again. */
  readonly changesAtMs?: number;
  /** The next start that has not come yet; absent: there is none. */
  readonly nextStartMs?: number;
}

/** Each edge costs a write of each cluster and a reconcile of each Bundle there: shorter windows would cost them each second. */
const shortestMs = 60_000;

/** The starts that are compared with the duration. */
const comparedStarts = 400;

/** The same starts whenever it is asked, so that the result depends on no clock; an expression with years has its own. */
const comparedFromMs = Date.UTC(2024, 0, 1) - 1;

/** Throws SCHEDULE_INVALID with the field that is wrong, and where the duration reaches the next start. */
export function parseWindow({ schedule, duration, location }: WindowText): Window {
  const expression = parseQuartz(schedule ?? "");
  const zone = zoneOf(location);
  const durationMs = durationOf(duration ?? "");
  const smallest = smallestGapMs(expression, zone);
  if (smallest !== undefined && durationMs >= smallest)
    throw scheduleInvalid(
      // Fleet's words, for which users search.
      `duration is too long and overlaps with the next execution time: it is ${formatGoDuration(durationMs)}, and two starts are only ${formatGoDuration(smallest)} apart`,
    );
  return { expression, zone, durationMs };
}

/** Whether a window is open at a time, and when that changes. */
export function windowAt({ expression, zone, durationMs }: Window, atMs: number): WindowState {
  const last = nextStart(expression, zone, atMs - durationMs);
  const isOpen = last !== undefined && last <= atMs;
  const next = isOpen ? nextStart(expression, zone, atMs) : last;
  const changesAtMs = isOpen ? last + durationMs : next;
  return {
    isOpen,
    ...(changesAtMs !== undefined && { changesAtMs }),
    ...(next !== undefined && { nextStartMs: next }),
  };
}

function durationOf(text: string): number {
  if (text === "") throw scheduleInvalid("the duration is missing: write for example 4h");
  const durationMs = parseGoDuration(text);
  if (durationMs === undefined)
    throw scheduleInvalid(
      `the duration ${quote(text)} is not one of Go, with the units h, m and s, such as 4h or 1h30m; write 48h for two days`,
    );
  if (durationMs < 1)
    throw scheduleInvalid(
      `the duration ${quote(text)} is not longer than zero, so the window would never be open`,
    );
  if (durationMs < shortestMs)
    throw scheduleInvalid(`the duration ${quote(text)} is shorter than a minute; write 1m or more`);
  return Math.round(durationMs);
}

/** Undefined where there are fewer than two starts. */
function smallestGapMs(expression: QuartzExpression, zone: Zone): number | undefined {
  const [firstYear] = expression.years ?? [];
  const afterMs = firstYear === undefined ? comparedFromMs : Date.UTC(firstYear - 1, 11, 30);
  const starts = nextStarts(expression, zone, { afterMs, count: comparedStarts });
  const gaps = starts.slice(1).map((start, at) => start - (starts[at] ?? start));
  return gaps.length === 0 ? undefined : Math.min(...gaps);
}
