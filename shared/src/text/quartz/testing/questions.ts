/** Questions about starts: selected and random ones. */
import * as fc from "fast-check";
import type { StartsQuestion } from "../../../charts/version/testing/index.ts";
import { type FieldRange, ranges } from "../field.ts";
import { expressionRows, refusedRows, zones } from "./rows.ts";

const times = ["2026-01-29T12:00:00Z", "2026-03-06T11:00:00Z", "2028-02-27T23:59:59Z"];

/** Each row in each zone. */
export function startsRowQuestions(): readonly StartsQuestion[] {
  return [...expressionRows, ...refusedRows].flatMap((expression, row) =>
    zones.map((zone, at) => {
      const after = Date.parse(times[(row + at) % times.length] ?? "");
      return { expression, zone, after, count: 4 };
    }),
  );
}

export function randomStartsQuestions(seed: number, numRuns: number): readonly StartsQuestion[] {
  return fc.sample(question, { seed, numRuns });
}

function numberIn({ from, to }: FieldRange): fc.Arbitrary<string> {
  return fc.integer({ min: from, max: to }).map(String);
}

function rangeIn({ from, to }: FieldRange): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer({ min: from, max: to }), fc.integer({ min: from, max: to }))
    .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
}

function numbersIn(range: FieldRange): fc.Arbitrary<string> {
  const step = fc.integer({ min: 1, max: Math.min(range.to, 20) });
  const single = fc.oneof(
    numberIn(range),
    rangeIn(range),
    fc.tuple(rangeIn(range), step).map(([base, by]) => `${base}/${by}`),
  );
  return fc.oneof(
    { weight: 3, arbitrary: single },
    {
      weight: 1,
      arbitrary: fc.array(single, { minLength: 2, maxLength: 3 }).map((all) => all.join(",")),
    },
  );
}

const any = fc.constantFrom("*", "?");

/** Without days that some months lack, which go-quartz puts into the next month. */
const daysOfMonth = { ...ranges.dayOfMonth, to: 28 };
const dayName = fc.constantFrom("SUN", "mon", "Tue", "WED", "thu", "FRI", "SAT");
const daysOfMonthFields: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(any, any),
  fc.tuple(numbersIn(daysOfMonth), any),
  fc.tuple(
    fc.oneof(
      fc.constant("L"),
      fc.integer({ min: 1, max: 27 }).map((before) => `L-${before}`),
    ),
    any,
  ),
);

/** Those that depend on the days of the week; go-quartz misses all but the first start of a day for some of them. */
const daysOfWeekFields: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(
    fc.oneof(
      fc.constant("LW"),
      // Where the nearest day is the first of the month, go-quartz misses some.
      numberIn({ ...daysOfMonth, from: 3 }).map((day) => `${day}W`),
    ),
    any,
  ),
  fc.tuple(
    any,
    fc.oneof(
      numbersIn(ranges.dayOfWeek),
      dayName,
      fc.array(dayName, { minLength: 2, maxLength: 3 }).map((all) => all.join(",")),
    ),
  ),
  fc.tuple(
    any,
    fc.oneof(
      fc.constant("L"),
      numberIn(ranges.dayOfWeek).map((day) => `${day}L`),
      fc.tuple(dayName, fc.integer({ min: 1, max: 4 })).map(([day, nth]) => `${day}#${nth}`),
    ),
  ),
);

const oftenADay = fc.tuple(
  fc.oneof(numbersIn(ranges.second), any),
  fc.oneof(numbersIn(ranges.minute), any),
  fc.oneof(numbersIn(ranges.hour), any),
);

/** Not at midnight, where go-quartz goes on to the next day of the week, whichever it is. */
const onceADay = fc.tuple(
  numberIn(ranges.second),
  numberIn(ranges.minute),
  numberIn({ ...ranges.hour, from: 1 }),
);

const timesAndDays = fc.oneof(
  fc.tuple(oftenADay, daysOfMonthFields),
  fc.tuple(onceADay, daysOfWeekFields),
);

const expression = fc
  .tuple(
    timesAndDays,
    fc.oneof(numbersIn(ranges.month), any, any, fc.constantFrom("JAN", "feb-Apr", "DEC,jun")),
    fc.oneof(fc.constant(""), fc.constant(""), fc.constantFrom(" *", " 2027", " 2026-2031/2")),
  )
  .map(([[time, [day, weekday]], month, year]) =>
    [...time, day, month, `${weekday}${year}`].join(" "),
  );

const question: fc.Arbitrary<StartsQuestion> = fc.record({
  expression,
  zone: fc.constantFrom(...zones),
  after: fc
    .integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2029, 0, 1) })
    .map((ms) => Math.floor(ms / 1_000) * 1_000),
  count: fc.constant(3),
});
