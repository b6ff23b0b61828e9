/**
 * Expressions of schedules as Fleet reads them (go-quartz): second, minute, hour, day of month, month, day of week and, if wanted,
 * year. The results of the Go library are in shared/golden, and the tests compare with them, except where it is wrong
 * (docs/differences-from-fleet.md).
 */
import { type DayRule, dayRuleOf } from "./day-rule.ts";
import { quote, scheduleInvalid } from "./errors.ts";
import { isAny, numbersOf, ranges } from "./field.ts";

/** A parsed expression. Lists of numbers are ascending and not empty. */
export interface QuartzExpression {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: DayRule;
  /** 1 to 12. */
  readonly months: readonly number[];
  /** Absent: every year. */
  readonly years?: readonly number[];
}

/** Longer than a list of all seconds, minutes, hours and days. */
const maxLength = 512;

const special: Readonly<Record<string, string>> = {
  "@yearly": "0 0 0 1 1 *",
  "@monthly": "0 0 0 1 * *",
  "@weekly": "0 0 0 * * 1",
  "@daily": "0 0 0 * * *",
  "@hourly": "0 0 * * * *",
};

const fieldsText = "second minute hour day-of-month month day-of-week [year]";

/** Throws SCHEDULE_INVALID with the field that is wrong and what it may be. */
export function parseQuartz(text: string): QuartzExpression {
  if (text.length > maxLength)
    throw scheduleInvalid(
      `the expression has ${text.length} characters, more than the limit of ${maxLength}`,
    );
  const trimmed = text.trim();
  const known = Object.hasOwn(special, trimmed) ? special[trimmed] : undefined;
  if (known === undefined && trimmed.startsWith("@"))
    throw scheduleInvalid(
      `the expression ${quote(trimmed)} is none of ${Object.keys(special).join(", ")}`,
    );
  const parts = (known ?? trimmed).split(/\s+/);
  const [second = "", minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek, year, more] =
    parts;
  if (dayOfWeek === undefined || more !== undefined)
    throw scheduleInvalid(
      `the expression ${quote(trimmed)} has ${trimmed === "" ? 0 : parts.length} fields and not 6 or 7: ${fieldsText}`,
    );
  return {
    seconds: numbersOf(second, ranges.second),
    minutes: numbersOf(minute, ranges.minute),
    hours: numbersOf(hour, ranges.hour),
    days: dayRuleOf(dayOfMonth, dayOfWeek),
    months: numbersOf(month, ranges.month),
    ...(year !== undefined && !isAny(year) && { years: numbersOf(year, ranges.year) }),
  };
}
