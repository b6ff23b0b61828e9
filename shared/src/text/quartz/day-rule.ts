/** Which days of a month an expression permits: by day of the month, by day of the week, or all. Pure. */
import { quote, scheduleInvalid } from "./errors.ts";
import { isAny, numberOf, numbersOf, ranges } from "./field.ts";

/** Days of the week are 1 for Sunday to 7 for Saturday. */
export type DayRule =
  | { readonly kind: "every" }
  | { readonly kind: "days"; readonly days: readonly number[] }
  /** `L` and `L-n`: so many days before the last one. */
  | { readonly kind: "last"; readonly before: number }
  /** `nW` and `LW`: the day from Monday to Friday of the same month that is nearest; 31 stands for the last day, too. */
  | { readonly kind: "nearestWeekday"; readonly day: number }
  | { readonly kind: "weekdays"; readonly days: readonly number[] }
  /** `nL`, and `L` for 7L. */
  | { readonly kind: "lastWeekday"; readonly day: number }
  /** `n#k`: the k-th such day of a month. */
  | { readonly kind: "nthWeekday"; readonly day: number; readonly nth: number };

/** Not every month has more: 28 days and the first. */
const mostBeforeLast = 30;
const mostOfOneWeekday = 5;
const saturday = 7;

/** Throws SCHEDULE_INVALID. */
export function dayRuleOf(dayOfMonth: string, dayOfWeek: string): DayRule {
  if (!isAny(dayOfMonth) && !isAny(dayOfWeek))
    throw scheduleInvalid(
      `the day field is set twice: the day of month is ${quote(dayOfMonth)} and the day of week is ${quote(dayOfWeek)}; write ? for one of them`,
    );
  if (!isAny(dayOfMonth)) return byMonth(dayOfMonth.toUpperCase());
  return isAny(dayOfWeek) ? { kind: "every" } : byWeek(dayOfWeek.toUpperCase());
}

/** The days of a month that the rule permits, ascending. `month` is 1 to 12. */
export function daysIn(rule: DayRule, year: number, month: number): readonly number[] {
  const length = lengthOf(year, month);
  const all = Array.from({ length }, (_, at) => at + 1);
  const isDay = (day: number, weekday: number) => weekdayOf(year, month, day) === weekday;
  switch (rule.kind) {
    case "every":
      return all;
    case "days":
      return rule.days.filter((day) => day <= length);
    case "last":
      return rule.before < length ? [length - rule.before] : [];
    case "nearestWeekday":
      return [nearestWeekday(year, month, Math.min(rule.day, length))];
    case "weekdays":
      return all.filter((day) => rule.days.includes(weekdayOf(year, month, day)));
    case "lastWeekday":
      return all.filter((day) => isDay(day, rule.day)).slice(-1);
    case "nthWeekday":
      return all.filter((day) => isDay(day, rule.day)).slice(rule.nth - 1, rule.nth);
  }
}

function byMonth(text: string): DayRule {
  const range = ranges.dayOfMonth;
  if (text === "L") return { kind: "last", before: 0 };
  if (text === "LW") return { kind: "nearestWeekday", day: range.to };
  if (text.startsWith("L-")) {
    const before = numberOf(text.slice(2), { ...range, to: mostBeforeLast });
    return { kind: "last", before };
  }
  if (text.endsWith("W"))
    return { kind: "nearestWeekday", day: numberOf(text.slice(0, -1), range) };
  return { kind: "days", days: numbersOf(text, range) };
}

function byWeek(text: string): DayRule {
  const range = ranges.dayOfWeek;
  if (text === "L") return { kind: "lastWeekday", day: saturday };
  const [day = "", nth, more] = text.split("#");
  if (nth !== undefined && more === undefined) {
    const limits = { name: "number after # in the day of week", from: 1, to: mostOfOneWeekday };
    return { kind: "nthWeekday", day: numberOf(day, range), nth: numberOf(nth, limits) };
  }
  if (/^\dL$/.test(text)) return { kind: "lastWeekday", day: numberOf(text.slice(0, -1), range) };
  return { kind: "weekdays", days: numbersOf(text, range) };
}

function nearestWeekday(year: number, month: number, day: number): number {
  const weekday = weekdayOf(year, month, day);
  if (weekday === saturday) return day === 1 ? day + 2 : day - 1;
  if (weekday !== 1) return day;
  return day === lengthOf(year, month) ? day - 2 : day + 1;
}

function lengthOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}
