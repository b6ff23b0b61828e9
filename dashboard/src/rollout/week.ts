/** Seven days from the local midnight before now, and what falls into them, in percent of their width. Pure. */

export interface WeekSpan {
  readonly key: string;
  readonly left: number;
  readonly width: number;
}

export interface WeekDay {
  /** Such as `Mon 3`. */
  readonly name: string;
  readonly left: number;
  readonly width: number;
}

const days = 7;

export function startOfDay(nowMs: number): Date {
  const day = new Date(nowMs);
  day.setHours(0, 0, 0, 0);
  return day;
}

/** The day after some days: one may have 23 or 25 hours. */
function dayAfter(start: Date, count: number): Date {
  const day = new Date(start);
  day.setDate(day.getDate() + count);
  return day;
}

/** `start`: a local midnight. */
export function weekOf(
  spans: readonly { readonly from: string; readonly to: string }[],
  start: Date,
  nowMs: number,
): {
  readonly days: readonly WeekDay[];
  readonly spans: readonly WeekSpan[];
  readonly nowPercent: number;
} {
  const [fromMs, toMs] = [start.getTime(), dayAfter(start, days).getTime()];
  const percent = (ms: number) =>
    ((Math.min(toMs, Math.max(fromMs, ms)) - fromMs) / (toMs - fromMs)) * 100;
  return {
    days: Array.from({ length: days }, (_, index) => {
      const [day, next] = [dayAfter(start, index), dayAfter(start, index + 1)];
      const left = percent(day.getTime());
      const weekday = day.toLocaleDateString("en", { weekday: "short" });
      return {
        name: `${weekday} ${day.getDate()}`,
        left,
        width: percent(next.getTime()) - left,
      };
    }),
    spans: spans.flatMap(({ from, to }) => {
      const left = percent(Date.parse(from));
      const width = percent(Date.parse(to)) - left;
      return width > 0 ? [{ key: from, left, width }] : [];
    }),
    nowPercent: percent(nowMs),
  };
}
