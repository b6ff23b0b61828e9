/** When an expression starts next. Pure. */
import { daysIn } from "./day-rule.ts";
import type { QuartzExpression } from "./expression.ts";
import { type LocalSpan, localTimeMs, spansOf, type Zone } from "./zone.ts";

const dayMs = 86_400_000;
const secondMs = 1_000;

/** The rarest days that exist are some decades apart: a fifth Friday in February, once in 28 or 40 years. */
const mostYears = 50;

/**
 * The first start strictly after a time, both in milliseconds since 1970; undefined where there is none, within 50 years where
 * the expression names no year.
 */
export function nextStart(
  expression: QuartzExpression,
  zone: Zone,
  afterMs: number,
): number | undefined {
  const today = startOfDay(localTimeMs(zone, afterMs));
  // Where clocks are set back at midnight, a part of the day before comes again.
  for (const localDay of daysFrom(expression, today - dayMs)) {
    const starts = [localDay, localDay + dayMs]
      .filter((day) => day === localDay || isPermitted(expression, day))
      .flatMap((day) => startIn(expression, spansOf(zone, day), afterMs) ?? []);
    if (starts.length > 0) return Math.min(...starts);
  }
  return undefined;
}

/** At most `count` starts after a time, in order. */
export function nextStarts(
  expression: QuartzExpression,
  zone: Zone,
  { afterMs, count }: { readonly afterMs: number; readonly count: number },
): readonly number[] {
  const starts: number[] = [];
  let last: number | undefined = afterMs;
  while (starts.length < count) {
    last = nextStart(expression, zone, last);
    if (last === undefined) break;
    starts.push(last);
  }
  return starts;
}

/** The first start of a local day that is after a time. */
function startIn(
  expression: QuartzExpression,
  spans: readonly LocalSpan[],
  afterMs: number,
): number | undefined {
  const starts = spans.flatMap(({ from, to, offsetMs }) => {
    const earliest = Math.max(
      from,
      Math.floor(afterMs / secondMs) * secondMs + secondMs + offsetMs,
    );
    const local = timeFrom(expression, startOfDay(from), earliest);
    return local !== undefined && local < to ? [local - offsetMs] : [];
  });
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** The first time of a local day that is not before `earliest`. */
function timeFrom(
  { hours, minutes, seconds }: QuartzExpression,
  localDay: number,
  earliest: number,
): number | undefined {
  const left = Math.max(0, (earliest - localDay) / secondMs);
  const [hour, minute, second] = [
    Math.floor(left / 3_600),
    Math.floor(left / 60) % 60,
    Math.floor(left) % 60,
  ];
  const [firstMinute = 0] = minutes;
  const [firstSecond = 0] = seconds;
  const time = (h: number, m: number, s: number) => localDay + ((h * 60 + m) * 60 + s) * secondMs;
  if (hours.includes(hour)) {
    const nextSecond = minutes.includes(minute) ? atLeast(seconds, second) : undefined;
    if (nextSecond !== undefined) return time(hour, minute, nextSecond);
    const nextMinute = atLeast(minutes, minute + 1);
    if (nextMinute !== undefined) return time(hour, nextMinute, firstSecond);
  }
  const nextHour = atLeast(hours, hour + 1);
  return nextHour === undefined ? undefined : time(nextHour, firstMinute, firstSecond);
}

/** The days that the expression permits, from a local day on, in order. */
function* daysFrom(expression: QuartzExpression, fromDay: number): Generator<number> {
  const first = new Date(fromDay);
  const from = { year: first.getUTCFullYear(), month: first.getUTCMonth() + 1 };
  const last = expression.years?.at(-1) ?? from.year + mostYears;
  for (let year = from.year; year <= last; year += 1) {
    if (expression.years?.includes(year) === false) continue;
    for (const month of expression.months) {
      if (year === from.year && month < from.month) continue;
      for (const day of daysIn(expression.days, year, month)) {
        const localDay = Date.UTC(year, month - 1, day);
        if (localDay >= fromDay) yield localDay;
      }
    }
  }
}

function isPermitted(expression: QuartzExpression, localDay: number): boolean {
  const date = new Date(localDay);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return (
    expression.years?.includes(year) !== false &&
    expression.months.includes(month) &&
    daysIn(expression.days, year, month).includes(date.getUTCDate())
  );
}

function atLeast(ascending: readonly number[], value: number): number | undefined {
  return ascending.find((each) => each >= value);
}

function startOfDay(local: number): number {
  return Math.floor(local / dayMs) * dayMs;
}
