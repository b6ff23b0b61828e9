/** Questions about starts: selected and random ones. */
import * as fc from "fast-check";
import type { StartsQuestion } from "../../../charts/version/testing/index.ts";
import { type FieldRange, ranges } from "../field.ts";
import { expressionRows, faultyRows, refusedRows, zones } from "./rows.ts";

const times = ["2026-01-29T12:00:00Z", "2026-03-06T11:00:00Z", "2028-02-27T23:59:59Z"];
/** Late on a Monday, on the last day of a year, and between the last Monday and Tuesday of one. */
const lateTimes = ["2026-03-02T23:30:00Z", "2026-12-31T23:30:00Z", "2026-12-28T12:00:00Z"];

const hourMs = 3_600_000;

/** When clocks change, forth and back. */
const changes: readonly (readonly [zone: string, at: string])[] = [
  ["Europe/Berlin", "2026-03-29T01:00:00Z"],
  ["Europe/Berlin", "2026-10-25T01:00:00Z"],
  ["America/New_York", "2026-03-08T07:00:00Z"],
  ["America/New_York", "2026-11-01T06:00:00Z"],
  ["Australia/Sydney", "2026-04-04T16:00:00Z"],
  ["Australia/Sydney", "2026-10-03T16:00:00Z"],
  ["Pacific/Auckland", "2026-04-04T14:00:00Z"],
  ["Pacific/Auckland", "2026-09-26T14:00:00Z"],
];

/** Each row in each zone, and those where go-quartz is wrong at each of the times, and when clocks change. */
export function startsRowQuestions(): readonly StartsQuestion[] {
  const right = [...expressionRows, ...refusedRows].flatMap((expression, row) =>
    zones.map((zone, at) => {
      const after = Date.parse(times[(row + at) % times.length] ?? "");
      return { expression, zone, after, count: 4 };
    }),
  );
  const faulty = faultyRows.flatMap((expression) => [
    ...[...times, ...lateTimes].map((time) => {
      return { expression, zone: "UTC", after: Date.parse(time), count: 4 };
    }),
    ...changes.map(([zone, at]) => {
      // Before that night, and in the hour that comes twice, or does not exist.
      return { expression, zone, after: Date.parse(at) - 13 * hourMs, count: 4 };
    }),
    ...changes.map(([zone, at]) => {
      return { expression, zone, after: Date.parse(at) - hourMs / 4, count: 4 };
    }),
  ]);
  return [...right, ...faulty];
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

const dayName = fc.constantFrom("SUN", "mon", "Tue", "WED", "thu", "FRI", "SAT");
const daysOfMonthFields: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(any, any),
  fc.tuple(numbersIn(ranges.dayOfMonth), any),
  fc.tuple(
    fc.oneof(
      fc.constant("L"),
      fc.integer({ min: 1, max: 27 }).map((before) => `L-${before}`),
    ),
    any,
  ),
);

/** Those that depend on the days of the week. */
const daysOfWeekFields: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(
    fc.oneof(
      fc.constant("LW"),
      numberIn(ranges.dayOfMonth).map((day) => `${day}W`),
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

const onceADay = fc.tuple(numberIn(ranges.second), numberIn(ranges.minute), numberIn(ranges.hour));

const timesAndDays = fc.tuple(
  fc.oneof(oftenADay, onceADay),
  fc.oneof(daysOfMonthFields, daysOfWeekFields),
);

/** Asked for a fifth day of the week in months that have none, go-quartz never ends. */
const fifthOfAnyMonth = fc.tuple(
  fc.tuple(
    fc.oneof(oftenADay, onceADay),
    fc.tuple(
      any,
      dayName.map((day) => `${day}#5`),
    ),
  ),
  any,
);

const monthsOf = fc.oneof(
  numbersIn(ranges.month),
  any,
  any,
  fc.constantFrom("JAN", "feb-Apr", "DEC,jun"),
);

const expression = fc
  .tuple(
    fc.oneof(
      { weight: 15, arbitrary: fc.tuple(timesAndDays, monthsOf) },
      { weight: 1, arbitrary: fifthOfAnyMonth },
    ),
    fc.oneof(fc.constant(""), fc.constant(""), fc.constantFrom(" *", " 2027", " 2026-2031/2")),
  )
  .map(([[[time, [day, weekday]], month], year]) =>
    [...time, day, month, `${weekday}${year}`].join(" "),
  );

const anyTime = fc.tuple(
  fc.constantFrom(...zones),
  fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2029, 0, 1) }),
);

const whenClocksChange = fc
  .tuple(fc.constantFrom(...changes), fc.integer({ min: -30 * hourMs, max: 6 * hourMs }))
  .map(([[zone, at], offMs]) => [zone, Date.parse(at) + offMs] as const);

const question: fc.Arbitrary<StartsQuestion> = fc
  .tuple(
    expression,
    fc.oneof({ weight: 3, arbitrary: anyTime }, { weight: 1, arbitrary: whenClocksChange }),
  )
  .map(([text, [zone, ms]]) => {
    const after = Math.floor(ms / 1_000) * 1_000;
    return { expression: text, zone, after, count: 3 };
  });
