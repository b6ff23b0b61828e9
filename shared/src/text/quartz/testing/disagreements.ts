/** Where our starts of an expression differ from those of go-quartz, except where that one is wrong. */
import type { Answers, StartsQuestion } from "../../../charts/version/testing/index.ts";
import { AppError } from "../../../runtime/errors/index.ts";
import { localTimeMs, nextStarts, parseQuartz, quartzErrors, type Zone, zoneOf } from "../index.ts";

type StartsAnswer = NonNullable<Answers["starts"]>[number];

interface Comparison {
  /** One line for each question with another answer. */
  readonly disagreements: readonly string[];
  /** How many starts, ends and refusals were compared. */
  readonly compared: number;
}

const dayMs = 86_400_000;

export function compareStarts(
  questions: readonly StartsQuestion[],
  answers: readonly StartsAnswer[],
): Comparison {
  // Making one takes milliseconds.
  const zones = new Map<string, Zone>();
  const disagreements: string[] = [];
  let compared = 0;
  for (const [at, question] of questions.entries()) {
    const zone = zones.get(question.zone) ?? zoneOf(question.zone);
    zones.set(question.zone, zone);
    const ours = ourStarts(question, zone);
    const theirs = answers[at]?.error === undefined ? (answers[at]?.starts ?? []) : undefined;
    const count = comparable(question, ours ?? [], zone);
    compared += count;
    const [a, b] = [ours, theirs].map((starts) => textOf(starts?.slice(0, count)));
    if (a !== b) disagreements.push(`${JSON.stringify(question)}: ours ${a}, Go's ${b}`);
  }
  return { disagreements, compared };
}

/** In a field of its own, so that it is no name of a day. */
const nearestWeekday = / (L|\d+)W /;

/**
 * Starts before the first night on which clocks change. The rows of next-start.test.ts are about those, about a nearest day from
 * Monday to Friday, which go-quartz misses when it is asked on that day, and about the end of a month, where it goes on to the
 * next one, whichever it is.
 */
function comparable(
  { expression, after }: StartsQuestion,
  starts: readonly number[],
  zone: Zone,
): number {
  const [first = Number.POSITIVE_INFINITY] = starts;
  if (nearestWeekday.test(expression) && first - after < dayMs) return 0;
  const today = new Date(localTimeMs(zone, after));
  if (new Date(today.getTime() + dayMs).getUTCMonth() !== today.getUTCMonth()) return 0;
  const { offsetMs } = zone;
  const isSteady = (at: number): boolean => offsetMs(at - dayMs) === offsetMs(at + dayMs);
  if (!isSteady(after)) return 0;
  const changed = starts.findIndex((start) => !isSteady(start));
  return changed === -1 ? starts.length + 1 : changed;
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
