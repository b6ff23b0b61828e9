/** Where our starts of an expression differ from those of go-quartz, except where that one is wrong. */
import type { Answers, StartsQuestion } from "../../../charts/version/testing/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { localTimeMs, nextStarts, parseQuartz, quartzErrors, type Zone, zoneOf } from "../index.ts";
import { fieldsOf, permits } from "./permits.ts";

type StartsAnswer = NonNullable<Answers["starts"]>[number];

/** What go-quartz does wrong; the rows of next-start.test.ts have each of them with our answer. */
export const faults = [
  /** It takes an hour in a list that no day has. */
  "hour that no day has",
  /** In a month that lacks the day it starts on one of the first days of the next. */
  "day that a month lacks",
  /** After the last time of a day it goes on to the next day, whichever that is. */
  "day after a day that is permitted",
  /** It misses times on the day that is nearest to another one, or that day if it is asked on it. */
  "nearest weekday",
  /** It misses some of the fifth days of a week. */
  "fifth weekday",
  /** After a year that is not permitted it misses the first day. */
  "weekday after a year that is not permitted",
  /** Asked in such a night it misses starts; west of Greenwich other times count in an hour that comes twice, or is left out. */
  "night when clocks change",
] as const;

type Fault = (typeof faults)[number];

interface Comparison {
  /** One line for each question with another answer. */
  readonly disagreements: readonly string[];
  /** How many starts, ends and refusals are the same. */
  readonly compared: number;
  /** For each question where go-quartz is wrong: how, at the first start that differs. */
  readonly faulty: readonly Fault[];
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

export function compareStarts(
  questions: readonly StartsQuestion[],
  answers: readonly StartsAnswer[],
): Comparison {
  // Making one takes milliseconds.
  const zones = new Map<string, Zone>();
  const disagreements: string[] = [];
  const faulty: Fault[] = [];
  let compared = 0;
  for (const [at, question] of questions.entries()) {
    const zone = zones.get(question.zone) ?? zoneOf(question.zone);
    zones.set(question.zone, zone);
    const ours = ourStarts(question, zone);
    const theirs = answers[at]?.error === undefined ? (answers[at]?.starts ?? []) : undefined;
    const count = countEqual(ours ?? [], theirs ?? []);
    const isSame = ours?.length === theirs?.length && count === (ours?.length ?? 0);
    const hasEnd = isSame && count < question.count;
    compared += count + (hasEnd ? 1 : 0);
    if (isSame) continue;
    const fault =
      ours === undefined || theirs === undefined
        ? refusalFault(question, ours)
        : startFault(question.expression, zone, {
            last: count === 0 ? question.after : ours[count - 1],
            ours: ours[count],
            theirs: theirs[count],
          });
    if (fault !== undefined) faulty.push(fault);
    else
      disagreements.push(
        `${JSON.stringify(question)}: ours ${textOf(ours)}, Go's ${textOf(theirs)}`,
      );
  }
  return { disagreements, compared, faulty };
}

function countEqual(ours: readonly number[], theirs: readonly number[]): number {
  const differs = ours.findIndex((start, at) => start !== theirs[at]);
  return differs === -1 ? ours.length : differs;
}

function refusalFault(
  { expression }: StartsQuestion,
  ours: readonly number[] | undefined,
): Fault | undefined {
  const [, , hours = ""] = fieldsOf(expression);
  const isBeyond = hours.split(",").some((hour) => Number(hour) > 23);
  return ours === undefined && isBeyond ? "hour that no day has" : undefined;
}

/** The first start that differs, and the one before it, or the time that was asked about; undefined: there is none. */
interface Difference {
  readonly last: number | undefined;
  readonly ours: number | undefined;
  readonly theirs: number | undefined;
}

/** Only where theirs is a time that the expression does not permit, or misses one that it does, and only in these ways. */
function startFault(
  expression: string,
  zone: Zone,
  { last = 0, ours, theirs }: Difference,
): Fault | undefined {
  const isChanging = (at: number | undefined) =>
    at !== undefined && zone.offsetMs(at - 2 * hourMs) !== zone.offsetMs(at + 2 * hourMs);
  const isWest = zone.offsetMs(last) < 0;
  if ((isChanging(ours) || isChanging(theirs)) && (isWest || isChanging(last)))
    return "night when clocks change";
  const isPermitted = (at: number) => permits(expression, localTimeMs(zone, at));
  if (theirs !== undefined && !isPermitted(theirs))
    return wrongDay(expression, localTimeMs(zone, last), localTimeMs(zone, theirs));
  const isMissed = ours !== undefined && isPermitted(ours) && (theirs ?? Infinity) > ours;
  return isMissed
    ? missed(expression, localTimeMs(zone, last), localTimeMs(zone, ours))
    : undefined;
}

function wrongDay(expression: string, last: number, theirs: number): Fault | undefined {
  const [, , , dayOfMonth = ""] = fieldsOf(expression);
  const [date, first] = [new Date(theirs), new Date(theirs)];
  first.setUTCDate(1);
  const lacking = 31 - new Date(first.getTime() - dayMs).getUTCDate();
  const isOverflow = /^[\d,/-]+$/.test(dayOfMonth) && date.getUTCDate() <= lacking;
  if (isOverflow) return "day that a month lacks";
  const isNextDay = Math.floor(theirs / dayMs) === Math.floor(last / dayMs) + 1;
  return isNextDay ? "day after a day that is permitted" : undefined;
}

function missed(expression: string, last: number, ours: number): Fault | undefined {
  const [, , , dayOfMonth = "", , dayOfWeek = "", year = "*"] = fieldsOf(expression);
  if (dayOfMonth.endsWith("W")) return "nearest weekday";
  if (dayOfWeek.endsWith("#5")) return "fifth weekday";
  const years = new Date(ours).getUTCFullYear() - new Date(last).getUTCFullYear();
  const isSkipping = year !== "*" && years > 1 && !/^[*?]$/.test(dayOfWeek);
  return isSkipping ? "weekday after a year that is not permitted" : undefined;
}

/** Undefined: it is refused. */
function ourStarts(
  { expression, after, count }: StartsQuestion,
  zone: Zone,
): readonly number[] | undefined {
  try {
    return nextStarts(parseQuartz(expression), zone, { afterMs: after, count });
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === quartzErrors.SCHEDULE_INVALID.code)
      return undefined;
    throw thrown;
  }
}

function textOf(starts: readonly number[] | undefined): string {
  return starts?.map((start) => new Date(start).toISOString()).join(" ") ?? "refused";
}
