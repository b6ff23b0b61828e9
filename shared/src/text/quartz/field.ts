/** One field of an expression as the numbers that it permits: values, names, lists, ranges and steps. Pure. */
import { quote, scheduleInvalid } from "./errors.ts";

/** What a field may say. */
export interface FieldRange {
  /** In messages, such as `hour`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names of the numbers in upper case, the first for `from`. */
  readonly names?: readonly string[];
}

const months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const days = "SUN MON TUE WED THU FRI SAT".split(" ");

export const ranges = {
  second: { name: "second", from: 0, to: 59 },
  minute: { name: "minute", from: 0, to: 59 },
  hour: { name: "hour", from: 0, to: 23 },
  dayOfMonth: { name: "day of month", from: 1, to: 31 },
  month: { name: "month", from: 1, to: 12, names: months },
  dayOfWeek: { name: "day of week", from: 1, to: 7, names: days },
  year: { name: "year", from: 1970, to: 3940 },
} as const satisfies Readonly<Record<string, FieldRange>>;

/** Whether a field limits nothing. */
export function isAny(text: string): boolean {
  return text === "*" || text === "?";
}

/** The numbers that a field permits, ascending, each once; `*` and `?` permit all. Throws SCHEDULE_INVALID. */
export function numbersOf(text: string, range: FieldRange): readonly number[] {
  const numbers = isAny(text)
    ? sequence(range.from, range.to, 1)
    : text.split(",").flatMap((part) => partOf(part, range));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** One number or name, within the range. Throws SCHEDULE_INVALID. */
export function numberOf(text: string, range: FieldRange): number {
  const named = range.names?.indexOf(text.toUpperCase()) ?? -1;
  if (named !== -1) return range.from + named;
  if (!/^\d{1,4}$/.test(text))
    throw scheduleInvalid(`the ${range.name} ${quote(text)} is not ${whatIsAllowed(range)}`);
  const number = Number(text);
  if (number < range.from || number > range.to)
    throw scheduleInvalid(
      `the ${range.name} ${number} is not between ${range.from} and ${range.to}`,
    );
  return number;
}

/** An entry of a list. */
function partOf(text: string, range: FieldRange): readonly number[] {
  const [base = "", stepText, more] = text.split("/");
  if (stepText === undefined) return rangeOf(base, range) ?? [numberOf(base, range)];
  const step = /^\d{1,4}$/.test(stepText) ? Number(stepText) : 0;
  if (more !== undefined || step < 1 || step > range.to)
    throw scheduleInvalid(
      `the step of the ${range.name} ${quote(text)} is not a number between 1 and ${range.to}`,
    );
  const spread = base === "*" ? [range.from] : rangeOf(base, range);
  const [from, to] =
    spread === undefined || base === "*"
      ? [base === "*" ? range.from : numberOf(base, range), range.to]
      : [spread.at(0) ?? range.from, spread.at(-1) ?? range.to];
  return sequence(from, to, step);
}

/** Undefined where the text is no range. */
function rangeOf(text: string, range: FieldRange): readonly number[] | undefined {
  const [from, to, more] = text.split("-");
  if (from === undefined || to === undefined) return undefined;
  if (more !== undefined)
    throw scheduleInvalid(`the ${range.name} ${quote(text)} is not a range such as 2-6`);
  const [first, last] = [numberOf(from, range), numberOf(to, range)];
  if (first > last)
    throw scheduleInvalid(
      `the range ${quote(text)} of the ${range.name} ends before it begins; write it as two ranges, with a comma`,
    );
  return sequence(first, last, 1);
}

function sequence(from: number, to: number, step: number): readonly number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);
}

function whatIsAllowed({ from, to, names }: FieldRange): string {
  const example = names === undefined ? "" : `, or a name such as ${names[0] ?? ""}`;
  return `a number between ${from} and ${to}${example}`;
}
